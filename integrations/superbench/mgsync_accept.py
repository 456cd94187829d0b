"""SuperBench (written for 0.11 and 0.12): is this node normal, as a micro-benchmark with a metric for each point.

Copy to superbench/benchmarks/micro_benchmarks/ and import it in that package's __init__.py; mgsync itself goes to
$SB_MICRO_PATH/bin. In a configuration:

    mgsync-accept:
      enable: true
      modes: [{name: local, proc_num: 1}]
      parameters: {against: "/srv/good-1.json,/srv/good-2.json"}

and as a rule (3: a barrier failed, 5: not normal; 4, which cannot be told, is no fault of the node):

    mgsync-accept:
      function: value
      categories: Node
      criteria: "lambda x: x in (3, 5)"
      metrics: [mgsync-accept/exit_code]
"""
import json
import os
import re
import shlex

from superbench.benchmarks import BenchmarkRegistry, Platform, ReturnCode
from superbench.benchmarks.micro_benchmarks import MicroBenchmarkWithInvoke
from superbench.common.utils import logger


class MgsyncAccept(MicroBenchmarkWithInvoke):
    """mgsync accept: each GPU, each pair and all of them, held against a reference."""

    def __init__(self, name, parameters=''):
        super().__init__(name, parameters)
        self._bin_name = 'mgsync'

    def add_parser_arguments(self):
        super().add_parser_arguments()
        self._parser.add_argument('--against', type=str, default='', help='Results files of good nodes of this kind.')
        self._parser.add_argument('--thresholds', type=str, default='', help='A table of what points may be slower by.')
        self._parser.add_argument('--device', type=str, default='auto', choices=['auto', 'gpu', 'host'], help='What is measured.')

    def _preprocess(self):
        if not super()._preprocess():
            return False
        words = [os.path.join(self._args.bin_dir, self._bin_name), 'accept', '--line', '-', '--device', self._args.device]
        for option in ('against', 'thresholds'):
            if getattr(self._args, option):
                words += [f'--{option}', getattr(self._args, option)]
        # 3, 4 and 5 are verdicts, and have metrics; SuperBench takes any other code than 0 for a failed run. With
        # --log_flushing it starts the command without a shell.
        self._commands.append(shlex.join(['bash', '-c', shlex.join(words) + ' || [ $? -ge 3 ]']))
        return True

    def _process_raw_result(self, cmd_idx, raw_output):
        self._result.add_raw_data(f'raw_output_{cmd_idx}', raw_output, self._args.log_raw_data)
        try:
            record = next(json.loads(line) for line in raw_output.splitlines() if line.startswith('{"schema":"mgsync-accept/1"'))
        except (StopIteration, ValueError) as error:
            self._result.set_return_code(ReturnCode.MICROBENCHMARK_RESULT_PARSING_FAILURE)
            logger.error('The result format is invalid - round: {}, benchmark: {}, raw output: {}, message: {}.'.format(
                self._curr_run_index, self._name, raw_output, repr(error)))
            return False
        self._result.add_result('exit_code', record['exit_code'])
        self._result.add_result('findings', len(record['findings']))
        for point in record['points']:
            name = re.sub(r'[^a-z0-9]+', '_', f'{point["part"]} {point["subject"]} {point["shape"]}'.lower())
            if point.get('us'):
                self._result.add_result(f'{name}_us', point['us'])
                self._result.add_result(f'{name}_over_limit', point['times'] / point['limit'])
        return True


BenchmarkRegistry.register_benchmark('mgsync-accept', MgsyncAccept, platform=Platform.CUDA)
