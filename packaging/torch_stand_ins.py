#!/usr/bin/env python3
"""PYTHON packaging/torch_stand_ins.py: makes the torch of PYTHON's environment load where no CUDA library is installed.

Its wheel asks for a dozen of NVIDIA's libraries at load time, of which a program that stays on the CPU needs none. This
writes a library for each that is missing; every function in it returns an error code, as on a machine without a device.
For tests only.
"""
import collections
import pathlib
import re
import subprocess
import sysconfig
import tempfile

NO_DEVICE = 100  # cudaErrorNoDevice, CUDA_ERROR_NO_DEVICE


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-dW", path))


def libraries(site):
    lib = site / "torch" / "lib"
    return sorted(lib.glob("*.so*")) + sorted((site / "torch").glob("_C*.so"))


def missing_sonames(files):
    """Names of NVIDIA's libraries that the wheel asks for and does not bring."""
    present = {path.name for path in files}
    names = {name for path in files for name in needed(path)}
    return {name for name in names - present if re.match(r"lib(cu|nv|nccl)", name)}


def symbols_by_library(files, sonames):
    """Undefined symbols by (soname, version) of the missing library; unversioned ones under the soname ''."""
    found = collections.defaultdict(set)
    defined = set()
    for path in files:
        for line in output("nm", "-D", "--defined-only", path).splitlines():
            defined.add(line.split()[-1].split("@")[0])
    for path in files:
        versions = {}
        soname = ""
        for line in output("readelf", "-VW", path).splitlines():
            if match := re.search(r"File: (\S+)", line):
                soname = match[1]
            elif match := re.search(r"Name: (\S+)\s+Flags", line):
                versions[match[1]] = soname
        for line in output("nm", "-D", "--undefined-only", path).splitlines():
            kind, name = line.split()[-2:]
            name, _, version = name.partition("@")
            version = version.strip("@")
            owner = versions.get(version, "") if version else ""
            if owner in sonames:
                found[owner, version].add(name)
            elif not version and kind == "U" and name not in defined and not re.match(r"_?Py|_Z", name):
                found["", ""].add(name)
    return found


def write(folder, soname, groups):
    """One shared library; `groups`: version → symbols."""
    with tempfile.TemporaryDirectory() as work:
        source, script = pathlib.Path(work, "s.c"), pathlib.Path(work, "s.map")
        names = sorted(set().union(*groups.values())) if groups else []
        source.write_text("".join(f"long {name}(void) {{ return {NO_DEVICE}; }}\n" for name in names))
        versions = [f"{version} {{ global: {' '.join(f'{n};' for n in sorted(found))} }};\n"
                    for version, found in groups.items() if version and found]
        script.write_text("".join(versions))
        command = ["gcc", "-w", "-fno-builtin", "-shared", "-fPIC", f"-Wl,-soname,{soname}", "-o", str(folder / soname),
                   str(source)]
        if versions:
            command.append(f"-Wl,--version-script={script}")
        subprocess.run(command, check=True)


def main():
    site = pathlib.Path(sysconfig.get_paths()["purelib"])
    files = libraries(site)
    sonames = missing_sonames(files)
    symbols = symbols_by_library(files, sonames)
    for soname in sorted(sonames):
        groups = {version: names for (owner, version), names in symbols.items() if owner == soname}
        if soname == min(sonames):
            groups[""] = symbols["", ""]
        write(site / "torch" / "lib", soname, groups)
    print(f"torch_stand_ins: {len(sonames)} libraries, {sum(map(len, symbols.values()))} functions")


if __name__ == "__main__":
    main()
