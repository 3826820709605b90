"""Help, options and every bad input that needs no device."""
import socket
import unittest

from support import QUICK, ProgramTest

MODEL = ["sweep", "--backend", "model:tavor"]


class Help(ProgramTest):
    def test_every_command_explains_itself(self):
        flags = {
            "devices": ["--json"],
            "serve": ["--bind", "--port", "--ib-dev", "--cpu", "--numa"],
            "sweep": ["--peer", "--loopback", "--backend", "--mtu", "--size", "--connection", "--operation", "--pattern",
                      "--tx-depth", "--rx-depth", "--post-list", "--cq-mod", "--inline", "--qp", "--sl", "--tclass",
                      "--gid-index", "--events", "--connect", "--segment", "--no-flow-control", "--ci", "--min-trials",
                      "--arrangements", "--max-trials", "--max-time", "--seed", "--out", "--resume", "--cpu", "--numa",
                      "--header", "--timeout"],
            "validate": ["file"],
            "tables": ["--json"],
            "compare": ["--to", "--require"],
        }
        for command, expected in flags.items():
            with self.subTest(command=command):
                text = self.run_ok(command, "--help").stdout
                for flag in expected:
                    self.assertIn(flag, text)

    def test_the_program_lists_its_commands(self):
        text = self.run_ok("--help").stdout
        for word in ("devices", "serve", "sweep", "validate", "tables", "compare", "--quiet", "--no-color"):
            self.assertIn(word, text)

    def test_version(self):
        self.assertRegex(self.run_ok("--version").stdout, r"\Amtuscope \d+\.\d+\.\d+ \(.+\)\n\Z")


class BadInput(ProgramTest):
    def test_command_line(self):
        self.assert_refused(2, ['no command "measure"', "--help"], "measure")
        self.assert_refused(2, ["--bogus"], "--bogus")
        self.assert_refused(2, ["--help"])
        self.assert_refused(2, ["--bogus", "sweep --help"], "sweep", "--bogus")
        self.assert_refused(2, ["--to"], "compare", "x.json")

    def test_sizes_and_mtus(self):
        for option, value, word in [("--size", "0", "0"), ("--size", "5G", "5G"), ("--size", "64,,128", "''"),
                                    ("--size", "1M:1K", "1M:1K"), ("--size", "4kB", "4kB"), ("--size", "-1", "-1"),
                                    ("--size", "posted:nosuch", "nosuch"), ("--size", "1K:2K:+0", "step"),
                                    ("--mtu", "1000", "1000"),
                                    ("--mtu", "8K", "8K"),
                                    ("--mtu", "all", "256, 512, 1K, 2K and 4K"), ("--mtu", "", "--mtu")]:
            with self.subTest(option=option, value=value):
                self.assert_refused(2, [option, word], *MODEL, f"{option}={value}")

    def test_words(self):
        for option, value, word in [("--connection", "xrc", "rc, uc, ud"), ("--connection", "none", "rc, uc, ud"),
                                    ("--operation", "atomic", "send, write"),
                                    ("--pattern", "pingpong", "ping-pong"), ("--wait", "spin,yield", "spin"),
                                    ("--connect", "udp", "tcp"), ("--ci", "0", "--ci"), ("--ci", "200%", "200%"),
                                    ("--max-time", "10", "10"), ("--max-time", "-1s", "-1s"), ("--timeout", "0", "0"),
                                    ("--qp", "0", "--qp"), ("--retry-count", "7", "7"), ("--sl", "16", "16"),
                                    ("--tx-depth", "many", "many")]:
            with self.subTest(option=option, value=value):
                self.assert_refused(2, [option, word], *MODEL, f"{option}={value}")

    def test_options_that_contradict_each_other(self):
        self.assert_refused(2, ["--cq-mod", "--tx-depth"], *MODEL, "--tx-depth", "8", "--cq-mod", "16")
        self.assert_refused(2, ["--max-trials", "--min-trials"], *MODEL, "--max-trials", "3")
        self.assert_refused(2, ["--peer", "--loopback"], "sweep", "--loopback", "--peer", "localhost")
        self.assert_refused(2, ["--resume", "--out"], *MODEL, "--resume")
        self.assert_refused(2, ["--resume", "--out"], *MODEL, "--resume", "--out", "-")
        self.assert_refused(2, ["--cpu", "--numa"], *MODEL, "--cpu", "0", "--numa", "0")

    def test_blocks(self):
        lanai = ["sweep", "--backend", "model:lanai9"]
        self.assert_refused(2, ["10000000", "1048576"], *lanai, "--blocks", "10000000")
        self.assert_refused(2, ["--block-size", "8192"], *lanai, "--blocks", "8", "--block-size", "4K", "--size", "8K")
        self.assert_refused(2, ["--block-size", "--blocks"], *lanai, "--block-size", "4K")
        self.assert_refused(2, ["no number of blocks"], *lanai, "--blocks", "4K")
        self.assert_refused(2, ["--pages"], *lanai, "--blocks", "8", "--pages", "8K")
        self.assert_refused(2, ["--alias"], *lanai, "--blocks", "8", "--alias", "9")
        self.assert_refused(2, ["sideways"], *lanai, "--direction", "sideways")
        self.assert_refused(2, ["--qp"], *lanai, "--blocks", "8", "--qp", "2")
        self.assert_refused(3, ["memory are needed"], "--quiet", "sweep", "--backend", "memset", "--blocks", "1000000",
                            "--block-size", "8M", "--size", "4K")
        self.assert_refused(2, ["nosuch.json", "cannot read"], "blocks", "nosuch.json")

    def test_back_ends(self):
        self.assert_refused(2, ["nosuch", "verbs, null, memset, model:tavor"], "sweep", "--backend", "nosuch")
        self.assert_refused(2, ["model:lanai1", "model:tavor"], "sweep", "--backend", "model:lanai1")
        self.assert_refused(2, ["--peer", "no other end"], *MODEL, "--peer", "localhost")
        self.assert_refused(2, ["--loopback", "no other end"], *MODEL, "--loopback")
        self.assert_refused(2, ["--ib-dev", "no device"], *MODEL, "--ib-dev", "mlx5_0")

    def test_unknown_device(self):
        # Hosts without any device may answer that first; both name what was asked for.
        self.assert_refused((2, 3), ["nosuch0"], "sweep", "--loopback", "--ib-dev", "nosuch0")

    def test_peers(self):
        for peer in ("", ":18525", "host:", "host:0", "host:70000", "host:abc", "[::1", "[::1]x"):
            with self.subTest(peer=peer):
                self.assert_refused(2, ["--peer"], "sweep", f"--peer={peer}")

    def test_placement(self):
        self.assert_refused(2, ["--cpu 1023"], *MODEL, "--cpu", "1023")
        self.assert_refused(2, ["--numa 1023"], *MODEL, "--numa", "1023")

    def test_output_that_cannot_be_written(self):
        self.assert_refused((2, 3), ["no/such/folder"], *MODEL, "--size", "64", "--out", "no/such/folder/run.json")
        (self.folder / "taken").mkdir()
        self.assert_refused((2, 3), ["taken"], *MODEL, "--size", "64", "--out", "taken")

    def test_port_in_use(self):
        with socket.socket() as holder:
            holder.bind(("127.0.0.1", 0))
            holder.listen()
            port = holder.getsockname()[1]
            self.assert_refused(3, [str(port)], "serve", "--port", port)

    def test_address_that_is_not_ours(self):
        self.assert_refused((2, 3), ["192.0.2.1"], "serve", "--bind", "192.0.2.1", "--port", "0")


class Aliases(ProgramTest):
    def test_perftest_spellings_mean_the_same(self):
        ours = self.sweep_record("--backend", "null", *QUICK, "--size", "64", "--mtu", "1K", "--tx-depth", "64",
                                 "--rx-depth", "96", "--post-list", "4", "--cq-mod", "8", "--inline", "32",
                                 "--retry-count", "3", "--connect", "cm", "--wait", "event")
        theirs = self.sweep_record("--backend", "null", "-n", "100", "--arrangements", "1", "--min-trials", "3",
                                   "--max-trials", "3", "-s", "64", "-m", "1024", "-t", "64", "-r", "96",
                                   "--post_list", "4", "-Q", "8", "--inline_size", "32", "--retry_count", "3",
                                   "--rdma_cm", "--events")
        key = "spec" if "spec" in ours else "plan"
        self.assertEqual(ours[key], theirs[key])
        self.assertEqual(ours[key]["post_list"], 4)
        self.assertEqual(ours[key]["cq_mod"], 8)


if __name__ == "__main__":
    unittest.main()
