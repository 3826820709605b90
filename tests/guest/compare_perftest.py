#!/usr/bin/env python3
"""Prints the table of compare_perftest.sh from the files in its output directory.

perftest's figure is the median over repeats; mtuscope's the median over repeats of each record's own central value.
Rates are compared as messages per second: both tools state them, and no unit of bytes can get in the way. For UD it is the
sender's rate, without flow control, as perftest has none.
"""
import json
import pathlib
import statistics
import sys
from collections import defaultdict

MIB = 2**20


def sender_rate(columns, point):
    """Median over trials of the messages sent per second of the sender's own span, as perftest's client states it."""
    trials = [dict(zip(columns, row)) for row in point["trials"]]
    return statistics.median(t["sent_messages"] * 1e9 / t["sender_elapsed_ns"] for t in trials)


def messages_per_second(mib_per_s, mega_messages_per_s, size):
    """perftest prints two decimals of MiB/s and six of 10^6 messages/s: takes whichever has more digits."""
    if 0.01 / float(mib_per_s) < 1e-6 / float(mega_messages_per_s):
        return float(mib_per_s) * MIB / size
    return float(mega_messages_per_s) * 1e6


def read_perftest(directory):
    """{(test, mtu, size): [(cq_mod, messages per second)]}"""
    rates = defaultdict(list)
    for line in (directory / "perftest.tsv").read_text().splitlines():
        test, mtu, size, cq_mod, _, mib_per_s, mega_messages_per_s = line.split("\t")
        rate = messages_per_second(mib_per_s, mega_messages_per_s, int(size))
        rates[test, int(mtu), int(size)].append((int(cq_mod), rate))
    return rates


def read_mtuscope(directory):
    """{(test, mtu, size): [messages per second]}"""
    rates = defaultdict(list)
    for path in sorted(directory.glob("mtuscope.*.json")):
        test = path.name.split(".")[1]
        record = json.loads(path.read_text())
        for point in record["points"]:
            if point["outcome"] != "measured":
                continue
            rate = (sender_rate(record["trial_columns"], point) if test == "ud"
                    else point["summary"]["message_rate_per_s"]["value"])
            rates[test, point["path_mtu_bytes"], point["message_size_bytes"]].append(rate)
    return rates


def main():
    directory = pathlib.Path(sys.argv[1])
    perftest = read_perftest(directory)
    mtuscope = read_mtuscope(directory)
    print(f"{'test':6}{'MTU':>6}{'size':>8}{'cq_mod':>8}{'perftest msg/s':>16}{'MiB/s':>9}{'spread %':>10}"
          f"{'mtuscope msg/s':>16}{'ratio':>8}")
    for (test, mtu, size), runs in perftest.items():
        values = [rate for _, rate in runs]
        middle = statistics.median(values)
        spread = 100 * (max(values) - min(values)) / middle
        ours = mtuscope.get((test, mtu, size))
        columns = f"{statistics.median(ours):16.1f}{statistics.median(ours) / middle:8.3f}" if ours else f"{'-':>16}{'-':>8}"
        print(f"{test:6}{mtu:6}{size:8}{runs[0][0]:8}{middle:16.1f}{middle * size / MIB:9.2f}{spread:10.2f}{columns}")


if __name__ == "__main__":
    main()
