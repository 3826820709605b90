#!/usr/bin/env python3
"""mtuscope-mpi beside NetPIPE 3.7 (NPopenmpi), by turns (A B B A), on this machine.

Like with like: NetPIPE reports, per size, the best of 3 trials of a fixed number of repetitions (-n), one buffer for both
directions, timed by the transmitter (ping-pong) or the receiver (-s, streaming). We run trials of the same number of
messages on the same sizes and take the best of 3 raw trials from the record. A round gives one value per size and
program; a size's ratio is the median over rounds of the ratio within a round, with a distribution-free 95 % interval. Beside it
stands the ratio of the best rounds: on a machine that others use too, the undisturbed cost.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

TRIALS = 3  # NetPIPE 3.7, netpipe.h


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--pattern", choices=("ping-pong", "stream"), action="append")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--messages", type=int, help="per trial (default: 1000 up to 16 KiB, then 100)")
    parser.add_argument("--largest", type=int, default=1 << 20)
    parser.add_argument("--launcher", default="mpirun -np 2")
    parser.add_argument("--json", type=pathlib.Path, help="keep every value here")
    return parser.parse_args()


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {(done.stderr or done.stdout).strip()}")
    return done


def netpipe(options, pattern, block, folder):
    """Seconds per message (half a round trip for ping-pong) by size."""
    low, high, messages = block
    command = [*options.launcher.split(), "NPopenmpi", "-l", str(low), "-u", str(high), "-p", "0", "-n", str(messages),
               "-o", "np.out"]
    output = run(command + (["-s"] if pattern == "stream" else []), folder)
    times = {}
    for line in (folder / "np.out").read_text().splitlines():
        size, rate = line.split()[:2]  # in 2^20 bit/s; the third column, the time, is rounded to 10 ns
        times[int(size)] = int(size) * 8 / (float(rate) * 2**20)
    if not times:
        sys.exit(f"NPopenmpi printed nothing that could be read: {output.stdout[:500]}")
    return times


def ours(options, pattern, block, sizes, folder):
    _, _, messages = block
    command = [*options.launcher.split(), options.program, "sweep", "--pattern", pattern, "--size",
               ",".join(map(str, sizes)), "--messages", str(messages), "--arrangements", "1", "--min-trials",
               str(TRIALS), "--max-trials", str(TRIALS), "--slice-time", "0", "--quiet", "--out", "-"]
    record = json.loads(run(command, folder).stdout)
    times = {}
    for point in record["points"]:
        columns = record["trial_columns"] if "trial_columns" in record else point["trial_columns"]
        count, elapsed = columns.index("messages"), columns.index("elapsed_ns")
        best = min(trial[elapsed] / trial[count] for trial in point["trials"]) * 1e-9
        times[point["message_size_bytes"]] = best / (2 if pattern == "ping-pong" else 1)
    return times


def median_interval(values):
    """Distribution-free: the order statistics that cover the median with at least 95 %."""
    ordered, n = sorted(values), len(values)
    tail, k = 0.0, 0
    while k < n // 2 and tail + math.comb(n, k) * 0.5**n <= 0.025:
        tail += math.comb(n, k) * 0.5**n
        k += 1
    if k == 0:
        return None
    return ordered[k - 1], ordered[n - k]


def compare(options, pattern):
    small = options.messages or 1000
    large = options.messages or 100
    blocks = [(1, min(16384, options.largest), small), (16385, options.largest, large)]
    ratios = {}
    values = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for block in [b for b in blocks if b[0] <= b[1]]:
            sizes = sorted(netpipe(options, pattern, block, folder))  # NetPIPE chooses them; this run warms up
            for number in range(options.rounds):
                first_is_ours = number % 2 == 1
                mine = ours(options, pattern, block, sizes, folder) if first_is_ours else None
                theirs = netpipe(options, pattern, block, folder)
                mine = mine or ours(options, pattern, block, sizes, folder)
                for size in sizes:
                    # Bandwidth is size over time, so a bandwidth ratio is the inverse of a time ratio.
                    ratio = mine[size] / theirs[size] if pattern == "ping-pong" else theirs[size] / mine[size]
                    ratios.setdefault(size, []).append(ratio)
                    values.append([pattern, size, number, mine[size], theirs[size]])
                print(f"\r{pattern} up to {block[1]} B: round {number + 1} of {options.rounds}", end="", file=sys.stderr)
            print(file=sys.stderr)
    return ratios, values


def print_table(pattern, ratios, values):
    word = "latency" if pattern == "ping-pong" else "bandwidth"
    print(f"\n{pattern}: {word} of mtuscope-mpi over NPopenmpi, median over rounds and its 95 % interval")
    print(f"{'bytes':>9} {'ours us':>10} {'NP us':>10} {'best':>7} {'ratio':>7}  interval")
    bests = []
    for size, series in sorted(ratios.items()):
        mine = statistics.median(v[3] for v in values if v[1] == size) * 1e6
        theirs = statistics.median(v[4] for v in values if v[1] == size) * 1e6
        interval = median_interval(series)
        best = min(v[3] for v in values if v[1] == size) / min(v[4] for v in values if v[1] == size)
        bests.append(best if pattern == "ping-pong" else 1 / best)
        text = f"{interval[0]:.3f} .. {interval[1]:.3f}" if interval else "too few rounds"
        print(f"{size:>9} {mine:>10.3f} {theirs:>10.3f} {bests[-1]:>7.3f} {statistics.median(series):>7.3f}  {text}")
    print(f"geometric mean over {len(ratios)} sizes: "
          f"{statistics.geometric_mean(statistics.median(series) for series in ratios.values()):.3f}, of the best rounds "
          f"{statistics.geometric_mean(bests):.3f} (target: {'<= 1.02' if pattern == 'ping-pong' else '>= 0.98'})")


def main():
    options = arguments()
    options.program = str(pathlib.Path(options.program).resolve())
    kept = []
    for pattern in options.pattern or ["ping-pong", "stream"]:
        ratios, values = compare(options, pattern)
        print_table(pattern, ratios, values)
        kept += values
    if options.json:
        options.json.write_text(json.dumps({"columns": ["pattern", "size", "round", "ours_s", "netpipe_s"], "rows": kept}))


if __name__ == "__main__":
    main()
