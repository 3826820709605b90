#!/usr/bin/env python3
"""What guest cases demand of a record.  usage: check_record.py RECORD CHECK [ARGUMENT...]

complete              every point is measured, or skipped with a reason; the record says it is complete
proved                every session of RC and UC was proved by packet counters and read back as asked; none contradicts
counted_as_asked      every session was proved by packet counters alone (MPI does not read a path MTU back)
measured N            exactly N points are measured
skipped MTU TEXT      every point at path MTU `MTU` is skipped, and the reason contains TEXT
failed TEXT           at least one point failed, and every failure's reason contains TEXT
kept                  at least one trial is in the file although the run did not end well
rising SIZE MTUS      bandwidth at SIZE rises with the path MTU over all MTUS (1024,2048,...), intervals apart
payload RATE HEADERS TOLERANCE
                      bandwidth is RATE x MTU / (MTU + HEADERS) within TOLERANCE at each path MTU
same SHARE B1 B2 A2   this run and A2 against B1 and B2, run in the order A B B A so that a drift of the machine cancels: bandwidths
                      differ by less than 0.5 % at SHARE of the points
lossless              sent and received messages are equal where both are counted
lossy                 some messages were lost, and the bandwidth is what arrived
"""
import json
import sys


class Fault(Exception):
    """A demand the record does not meet."""


def demand(holds, text):
    if not holds:
        raise Fault(text)


def name(point):
    return "{connection} {operation} {pattern} mtu {path_mtu_bytes} size {message_size_bytes}".format(**point)


def of(record, outcome):
    return [p for p in record["points"] if p["outcome"] == outcome]


def bandwidth(point):
    return point["summary"]["bandwidth_bytes_per_s"]


def trials(record, point):
    return [dict(zip(record["trial_columns"], row)) for row in point.get("trials") or []]


def complete(record):
    demand(record["complete"], "the record says that it is not complete")
    demand(of(record, "measured"), "nothing was measured")
    for point in record["points"]:
        demand(point["outcome"] != "failed", f"{name(point)} failed: {point.get('reason')}")
        demand(point["outcome"] != "skipped" or len(point["reason"]) > 20, f"{name(point)} is skipped without a reason")


def proved(record):
    demand(record["sessions"], "no session is in the record")
    for session in record["sessions"]:
        proof = session["proof"]
        what = f"{session['connection']} mtu {proof['asked_bytes']}: {proof['verdict']}, {proof['reason']}"
        if session["connection"] == "ud":
            demand(proof["verdict"] != "contradicted", what)
            continue
        demand(proof["verdict"] == "proved", what)
        demand(proof["local_read_back_bytes"] == proof["remote_read_back_bytes"] == proof["asked_bytes"], what)
        demand(proof["counted_packets"] >= proof["expected_packets"] > 0, what)


def counted_as_asked(record):
    demand(record["sessions"], "no session is in the record")
    for session in record["sessions"]:
        proof = session["proof"]
        demand(proof["verdict"] == "proved" and proof["counter"], f"mtu {proof['asked_bytes']}: {proof['reason']}")


def measured(record, count):
    demand(len(of(record, "measured")) == int(count), f"{len(of(record, 'measured'))} points are measured, not {count}")


def skipped(record, mtu, text):
    points = [p for p in record["points"] if p["path_mtu_bytes"] == int(mtu)]
    demand(points, f"no point at path MTU {mtu}")
    for point in points:
        demand(point["outcome"] == "skipped", f"{name(point)} is {point['outcome']}, not skipped")
        demand(text in point["reason"], f"{name(point)}: '{text}' is not in the reason: {point['reason']}")


def failed(record, text):
    points = of(record, "failed")
    demand(points, "no point failed")
    for point in points:
        demand(text in point["reason"], f"{name(point)}: '{text}' is not in the reason: {point['reason']}")


def kept(record):
    demand(any(trials(record, p) for p in record["points"]), "no trial was kept")


def rising(record, size, mtus):
    points = {p["path_mtu_bytes"]: bandwidth(p) for p in of(record, "measured") if p["message_size_bytes"] == int(size)}
    order = [int(mtu) for mtu in mtus.split(",")]
    for smaller, larger in zip(order, order[1:]):
        demand(points[smaller]["high"] < points[larger]["low"],
               f"size {size}: {smaller} {points[smaller]} is not below {larger} {points[larger]}")


def payload(record, rate, headers, tolerance):
    for point in of(record, "measured"):
        mtu = point["path_mtu_bytes"]
        expected = float(rate) * mtu / (mtu + float(headers))
        ratio = bandwidth(point)["value"] / expected
        print(f"{name(point)}: {bandwidth(point)['value'] / 1e6:.3f} MB/s, {ratio:.4f} of payload/(payload + headers)")
        demand(abs(ratio - 1) <= float(tolerance), f"{name(point)}: ratio {ratio:.4f}")


def same(record, share, *others):
    runs = [record]
    for other in others:
        with open(other, encoding="utf-8") as file:
            runs.append(json.load(file))
    values = [{name(p): bandwidth(p)["value"] for p in of(run, "measured")} for run in runs]
    demand(values[0] and all(run.keys() == values[0].keys() for run in values), "the runs do not have the same points")
    agree = 0
    for point in values[0]:
        first, second, third, fourth = (run[point] for run in values)
        ratio = ((first * fourth) / (second * third)) ** 0.5
        agree += abs(ratio - 1) < 0.005
        print(f"{point}: ratio {ratio:.4f}; each run over the first: {second / first:.4f} {third / first:.4f} {fourth / first:.4f}")
    demand(agree >= float(share) * len(values[0]), f"only {agree} of {len(values[0])} points agree")


def counted(record):
    rows = [t for p in of(record, "measured") for t in trials(record, p) if t["received_messages"] is not None]
    demand(rows, "no trial counts sent and received messages")
    return rows


def lossless(record):
    for row in counted(record):
        demand(row["sent_messages"] == row["received_messages"], f"lost messages: {row}")


def lossy(record):
    rows = counted(record)
    demand(any(row["received_messages"] < row["sent_messages"] for row in rows), "nothing was lost")
    for row in rows:
        demand(row["messages"] <= row["received_messages"], f"more was counted than arrived: {row}")


CHECKS = {f.__name__: f for f in (complete, proved, counted_as_asked, measured, skipped, failed, kept, rising, payload, same, lossless, lossy)}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        record = json.load(file)
    try:
        CHECKS[sys.argv[2]](record, *sys.argv[3:])
    except Fault as fault:
        print(f"{sys.argv[1]}: {sys.argv[2]}: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
