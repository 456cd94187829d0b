#!/usr/bin/env bash
# Makes the Debian package of a build, unpacks it and uses what is in it. Usage: deb_test.sh CMAKE BUILD SOURCE
set -euo pipefail
cmake=$1 build=$2 source=$3
if ! command -v dpkg-shlibdeps >/dev/null || ! command -v dpkg-deb >/dev/null; then echo "no dpkg here"; exit 77; fi
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
(cd "$place" && "$(dirname "$cmake")/cpack" --config "$build/CPackConfig.cmake" -B "$place" >"$place/log" 2>&1) || { cat "$place/log"; exit 1; }
package=$(echo "$place"/mgsync_*.deb)
field() { dpkg-deb --field "$package" "$1"; }
version=$(sed -n 's/^project(mgsync VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
[ "$(field Version)" = "$version" ] || { echo "its version is $(field Version), not $version"; exit 1; }
for library in libc6 libfmt libhwloc; do
  field Depends | grep -q "$library" || { echo "it does not depend on $library: $(field Depends)"; exit 1; }
done
dpkg-deb --extract "$package" "$place/root"
for file in bin/mgsync share/doc/mgsync/README.md share/doc/mgsync/docs/method.md share/mgsync/reference/h200x2/sweep.json.xz share/man/man1/mgsync.1 \
  share/bash-completion/completions/mgsync share/zsh/site-functions/_mgsync share/fish/vendor_completions.d/mgsync.fish; do
  [ -f "$place/root/usr/$file" ] || { echo "it has no /usr/$file"; exit 1; }
done
[ -z "$(find "$place/root" -mindepth 1 -maxdepth 1 ! -name usr)" ] || { echo "it puts files outside of /usr"; exit 1; }
if grep -rlqF "$build" "$place/root/usr/share"; then echo "a file names the build folder"; exit 1; fi
"$place/root/usr/bin/mgsync" --version
kib=$(field Installed-Size)
[ "$kib" -lt 65536 ] || { echo "it takes $kib KiB"; exit 1; }
echo "$(basename "$package"): $kib KiB, depends on $(field Depends)"
