"""ReFrame (4.x): is this node normal? The verdict is the sanity check, each point a performance variable.

    reframe -C site.py -c integrations/reframe/mgsync_accept.py -S mgsync=/opt/mgsync/bin/mgsync -S against=/srv/good-1.json -r
"""
import json

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import run_before, sanity_function, variable


@rfm.simple_test
class mgsync_accept(rfm.RunOnlyRegressionTest):
    mgsync = variable(str, value='mgsync')
    against = variable(str, value='')
    device = variable(str, value='auto')

    descr = 'mgsync accept: each GPU, each pair and all of them, held against a reference'
    valid_systems = ['*']
    valid_prog_environs = ['*']
    num_tasks = 1
    record_file = 'accept.jsonl'

    @run_before('run')
    def set_command(self):
        self.executable = self.mgsync
        self.executable_opts = ['accept', '--device', self.device, '--line', self.record_file]
        if self.against:
            self.executable_opts += ['--against', self.against]
        self.keep_files = [self.record_file]

    def record(self):
        with open(f'{self.stagedir}/{self.record_file}') as lines:
            return json.loads(lines.read().splitlines()[-1])

    @sanity_function
    def node_is_normal(self):
        record = self.record()
        return sn.assert_eq(record['verdict'], 'normal', msg=record['sentence'])

    @run_before('performance')
    def name_points(self):
        self.perf_variables = {
            f'{p["part"]} {p["subject"]} {p["shape"]}'.replace(' ', '_').replace(':', '_'):
            sn.make_performance_function(sn.defer(p['us']), 'us')
            for p in self.record()['points'] if p.get('us')
        }
