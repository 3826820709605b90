#include "options.hpp"

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <utility>

#include "mtuscope/core/error.hpp"
#include "mtuscope/core/version.hpp"
#include "option_kinds.hpp"
#include "options_blocks.hpp"
#include "options_working_sets.hpp"
#include "parse.hpp"

namespace mtuscope::cli {
namespace {

void add_device(CLI::App& app, DeviceOptions& device) {
  app.add_option("-d,--ib-dev,--ib_dev", device.device, "RDMA device (default: the first with an active port)");
  add_optional_integer(app, "-i,--ib-port,--ib_port", "its port (default: the first active)", device.port, {1, 255});
  add_optional_integer(app, "-x,--gid-index,--gid_index", "GID of that port (default: chosen, see mtuscope devices)",
                       device.gid_index, {0, 65535});
}

void add_placement(CLI::App& app, PlacementOptions& placement) {
  add_optional_integer(app, "--cpu", "pin the measuring thread to this CPU", placement.cpu, {0, 1023});
  add_optional_integer(app, "--numa", "keep to the CPUs of this NUMA node", placement.numa_node, {0, 1023});
  app.get_option("--cpu")->excludes("--numa");
}

void parse_peer(const std::string& text, SweepOptions& options) {
  // "[::1]:18525" and "::1" are IPv6; a name or IPv4 address has at most one colon.
  std::string host = text;
  std::string port;
  if (text.front() == '[') {
    const auto end = text.find(']');
    if (end == std::string::npos) throw ConfigError{"\"" + text + "\" lacks the closing bracket"};
    host = text.substr(1, end - 1);
    if (end + 1 < text.size()) {
      if (text[end + 1] != ':') throw ConfigError{"\"" + text + "\" is not [ADDRESS]:PORT"};
      port = text.substr(end + 2);
      if (port.empty()) throw ConfigError{"\"" + text + "\" has no port after the colon"};
    }
  } else if (const auto colon = text.find(':'); colon != std::string::npos && text.rfind(':') == colon) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (port.empty()) throw ConfigError{"\"" + text + "\" has no port after the colon"};
  }
  if (host.empty()) throw ConfigError{"\"" + text + "\" names no host"};
  options.peer_host = host;
  if (port.empty()) return;
  std::uint64_t number = 0;
  if (!CLI::detail::lexical_cast(port, number) || number < 1 || number > 65535) {
    throw ConfigError{"\"" + port + "\" is no port number from 1 to 65535"};
  }
  options.peer_port = static_cast<std::uint16_t>(number);
}

/// The device of the end that this command line starts too.
void add_peer_device(CLI::App& app, DeviceOptions& device, const std::string& whose) {
  app.add_option("--peer-ib-dev,--peer_ib_dev", device.device, "device of " + whose + " (default: the same)");
  add_optional_integer(app, "--peer-ib-port,--peer_ib_port", "its port", device.port, {1, 255});
  add_optional_integer(app, "--peer-gid-index,--peer_gid_index", "its GID", device.gid_index, {0, 65535});
}

/// MPI has found the other end, and its launcher places the ranks.
void add_rank_ends(CLI::App& app, SweepOptions& options) {
  options.backend = "mpi";
  options.by_mpi = true;
  app.add_option("--backend", options.backend, "mpi, or verbs with MPI for the exchange only")->capture_default_str();
  add_device(app, options.device);
  add_peer_device(app, options.peer_device, "rank 1");
  app.add_option("--env", options.environment,
                 "NAME=VALUE for the MPI library, set before it starts; in every option {rank} and {host} stand for "
                 "this rank's")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--options-file", options.options_file,
                 "options of this host from a file, which {host} may name; words as on a command line, # comments");
}

std::string check_pairs(const std::string& word) {
  constexpr std::string_view kList = "list:";
  if (word == "all" || word == "ring" || word == "halves") return "";
  if (word.starts_with(kList) && word.size() > kList.size()) return "";
  return "takes all, ring, halves or list:FILE, not \"" + word + "\"";
}

/// The order of rounds is rank 0's; each rank has its device from --ib-dev.
void add_pairs(CLI::App& app, SweepOptions& options) {
  auto* pairs = app.add_option("--pairs", options.pairs,
                               "measure pairs of many ranks, in rounds of pairs at the same time: all, ring, halves, "
                               "list:FILE (default sizes: 64,4K,1M); needs --out FILE")
                    ->check(check_pairs, "");
  for (const auto* name : {"--peer-ib-dev", "--peer-ib-port", "--peer-gid-index"}) pairs->excludes(name);
  app.add_flag("--both-directions", options.both_directions, "measure each pair once more with its ranks exchanged")
      ->needs(pairs);
  add_optional_integer(app, "--pairs-at-once", "pairs that measure at the same time (default: all of a round)",
                       options.pairs_at_once, {1, 1U << 20U});
  app.get_option("--pairs-at-once")->needs(pairs);
  add_parsed(app, "--round-timeout", "deadline of one round of pairs",
             [&options](const std::string& text) {
               options.round_timeout_ns = parse_duration_ns(text);
               if (options.round_timeout_ns == 0)
                 throw ConfigError{"0 would wait for ever; write a time such as 10min"};
             })
      ->default_str("10min")
      ->needs(pairs);
}

void add_ends(CLI::App& app, SweepOptions& options) {
  app.add_option("--backend", options.backend, "verbs, null, memset, model:tavor or model:tavor5")
      ->capture_default_str()
      ->group("Ends");
  auto* peer = add_parsed(app, "--peer", "HOST[:PORT] of a running `mtuscope serve`",
                          [&options](const std::string& text) { parse_peer(text, options); });
  auto* loopback = app.add_flag("--loopback", options.loopback, "both ends in this process");
  peer->excludes(loopback);
  add_device(app, options.device);
  add_peer_device(app, options.peer_device, "the loopback run's other end");
  for (const auto* name : {"--peer-ib-dev", "--peer-ib-port", "--peer-gid-index"})
    app.get_option(name)->needs(loopback);
  add_placement(app, options.placement);
}

void add_axes(CLI::App& app, SweepOptions& options) {
  auto& spec = options.spec;
  app.add_option("-m,--mtu", options.path_mtus,
                 options.by_mpi ? "path MTUs: 256, 512, 1K, 2K, 4K (mpi: the one the library was launched with, not "
                                  "stated by default; verbs: 1K,2K and the port's active MTU by default)"
                                : "path MTUs: 256, 512, 1K, 2K, 4K (default: 1K,2K and the port's active MTU)");
  app.add_option("-s,--size", options.sizes,
                 "message sizes: 1:1M (doubling), 1K:32K:+1K (steps), 64,1500, posted:TABLE, default, and lists of "
                 "these (default: powers of two to 1 MiB, and k x MTU - 1, +0, +1 for k = 1..4)");
  add_parsed(app, "-c,--connection", "rc, uc, ud, mpi and gm (models); lists (default: rc; mpi for a model)",
             [&options](const std::string& text) {
               options.spec.connections = parse_words<Connection>(text, "rc, uc, ud, mpi, gm");
               options.connections_given = true;
             });
  add_parsed(app, "--operation", "send, write, read; lists", [&spec](const std::string& text) {
    spec.operations = parse_words<Operation>(text, "send, write, read");
  })->default_str("send");
  auto* pattern =
      add_parsed(app, "--pattern", "stream, bidirectional, ping-pong; lists", [&spec](const std::string& text) {
        spec.patterns = parse_words<Pattern>(text, "stream, bidirectional, ping-pong");
      });
  pattern->default_str("stream");
  app.add_flag_function(
         "-b,--bidirectional", [&spec](std::int64_t) { spec.patterns = {Pattern::bidirectional}; },
         "the same as --pattern bidirectional")
      ->excludes(pattern);
  add_optional_integer(app, "--header",
                       "bytes that MPI adds to a message (default: 50 for a model of MPI, 0 otherwise)",
                       options.header_bytes, {0, 65535});
}

void add_queues(CLI::App& app, SweepOptions& options) {
  auto& spec = options.spec;
  add_integer(
      app, options.by_mpi ? "-t,--tx-depth,--tx_depth,--window" : "-t,--tx-depth,--tx_depth",
      options.by_mpi ? "work requests in flight; mpi: messages of a window (64 by default)" : "work requests in flight",
      spec.tx_depth, {1, 32768});
  add_integer(app, "-r,--rx-depth,--rx_depth", "receives posted", spec.rx_depth, {1, 32768});
  add_integer(app, "-l,--post-list,--post_list", "work requests per post", spec.post_list, {1, 32768});
  add_integer(app, "-Q,--cq-mod,--cq_mod", "every n-th work request is signaled", spec.cq_mod, {1, 32768});
  add_integer(app, "-I,--inline,--inline_size", "largest message sent inline", spec.inline_bytes, {0, 65536});
  add_integer(app, "-q,--qp", "queue pairs", spec.qp_count, {1, 1024});
  auto* wait = add_parsed(app, "--wait",
                          "how completions are waited for: spin, yield, event (default: spin; yield "
                          "where both ends share one CPU)",
                          [&options](const std::string& text) {
                            const auto words = parse_words<WaitMode>(text, "spin, yield, event");
                            if (words.size() != 1) throw ConfigError{"takes one of spin, yield, event"};
                            options.spec.wait_mode = words.front();
                            options.wait_mode_given = true;
                          });
  app.add_flag_function(
         "-e,--events",
         [&options](std::int64_t) {
           options.spec.wait_mode = WaitMode::event;
           options.wait_mode_given = true;
         },
         "the same as --wait event")
      ->excludes(wait);
  auto* connect = add_parsed(app, "--connect", "who connects: tcp (our own exchange) or cm (librdmacm)",
                             [&spec](const std::string& text) {
                               const auto words = parse_words<ConnectMethod>(text, "tcp, cm");
                               if (words.size() != 1) throw ConfigError{"takes one of tcp, cm"};
                               spec.connect_method = words.front();
                             });
  connect->default_str("tcp");
  app.add_flag_function(
         "-R,--rdma_cm", [&spec](std::int64_t) { spec.connect_method = ConnectMethod::cm; }, "the same as --connect cm")
      ->excludes(connect);
  add_integer(app, "-S,--sl", "service level", spec.service_level, {0, 15});
  add_integer(app, "--tclass", "traffic class", spec.traffic_class, {0, 255});
  // 7 means "for ever" to the device; every wait of ours ends.
  add_integer(app, "--retry-count,--retry_count", "the QP's retries", spec.retry_count, {0, 6});
  app.add_flag("--segment", spec.segment, "UD: cut larger messages into datagrams instead of skipping them");
  app.add_flag_function(
      "--no-flow-control", [&spec](std::int64_t) { spec.flow_control = false; },
      "UD, UC: send without credits, losses and all");
  app.add_flag_function(
      "--no-verify", [&spec](std::int64_t) { spec.verify_payload = false; },
      "do not compare the payload (done once per point and arrangement, untimed)");
}

void add_repetition(CLI::App& app, SweepOptions& options) {
  auto& spec = options.spec;
  add_parsed(app, "--ci", "stop a point once its interval is this narrow, relative to the median",
             [&spec](const std::string& text) { spec.stop.relative_interval = parse_fraction(text); })
      ->default_str("1%");
  add_integer(app, "--min-trials", "trials of each point at least", spec.stop.min_trials, {1, 100000});
  add_integer(app, "--arrangements", "fresh connections and registrations to spread them over", spec.stop.arrangements,
              {1, 1000});
  add_integer(app, "--max-trials", "trials of each point at most", spec.stop.max_trials, {1, 100000});
  add_parsed(app, "--max-time", "for the whole run, as 90s, 10min, 2h (default: no limit)",
             [&spec](const std::string& text) { spec.stop.max_time_ns = parse_duration_ns(text); });
  add_optional_integer(app, "-n,--messages,--iters", "messages per trial (default: calibrated)", spec.messages,
                       {1, std::uint64_t{1} << 40U});
  add_parsed(app, "--trial-time", "calibrated trials last at least this long", [&spec](const std::string& text) {
    spec.trial_time_ns = parse_duration_ns(text);
  })->default_str("20ms");
  add_parsed(app, "--slice-time", "length of the slices whose minimum bandwidth is kept; 0: none",
             [&spec](const std::string& text) { spec.slice_time_ns = parse_duration_ns(text); })
      ->default_str("4ms");
  add_parsed(app, "--timeout", "deadline of any single wait", [&spec](const std::string& text) {
    spec.timeout_ns = parse_duration_ns(text);
    if (spec.timeout_ns == 0) throw ConfigError{"0 would wait for ever; write a time such as 10s"};
  })->default_str("10s");
  add_integer(app, "--seed", "of the random order of trials", spec.seed, {0, ~std::uint64_t{0} >> 1U});
}

void add_output(CLI::App& app, SweepOptions& options) {
  auto* out = app.add_option("-o,--out", options.out, "write the record to this file; - prints it alone")
                  ->check([](const std::string& name) { return name.empty() ? "needs a file name, or -" : ""; }, "");
  app.add_flag("--overwrite", options.overwrite, "replace the file of --out if there is one")->needs(out);
  app.add_flag("--resume", options.resume, "go on with the journal that a killed run left beside --out FILE")
      ->needs(out);
}

void add_sweep(CLI::App& app, SweepOptions& options, Program program) {
  if (program == Program::mtuscope_mpi) {
    add_rank_ends(app, options);
  } else {
    add_ends(app, options);
  }
  add_axes(app, options);
  add_queues(app, options);
  add_working_sets(app, options);
  add_repetition(app, options);
  add_output(app, options);
  if (program == Program::mtuscope_mpi) add_pairs(app, options);
}

void add_serve(CLI::App& app, ServeOptions& options) {
  app.add_option("--bind", options.bind_address, "address to listen on; 0.0.0.0 or :: to be reached from other hosts")
      ->capture_default_str();
  add_integer(app, "-p,--port", "TCP port; 0 asks the kernel, and the answer is printed", options.port, {0, 65535});
  add_device(app, options.device);
  add_placement(app, options.placement);
}

/// Every subcommand's options; they live until the chosen one is moved out.
struct AllOptions {
  DevicesOptions devices;
  ServeOptions serve;
  SweepOptions sweep;
  MpiOptions mpi;
  ValidateOptions validate;
  TablesOptions tables;
  CompareOptions compare;
  BlocksOptions blocks;
};

CommandOptions pick(const std::string& name, AllOptions& all) {
  if (name == "devices") return all.devices;
  if (name == "serve") return all.serve;
  if (name == "sweep") return std::move(all.sweep);
  if (name == "mpi") return std::move(all.mpi);
  if (name == "validate") return std::move(all.validate);
  if (name == "tables") return all.tables;
  if (name == "blocks") return std::move(all.blocks);
  return std::move(all.compare);
}

/// The options of mtuscope-mpi follow "--" and are parsed by its own rules.
void add_mpi(CLI::App& app, MpiOptions& options) {
  app.add_option("-m,--mtu", options.sweep.path_mtus, "path MTUs: 256, 512, 1K, 2K, 4K (default: 1K,2K)");
  app.add_option("--launcher", options.launcher, "starts two ranks: mpirun -np 2 --host a,b; srun -n 2")->required();
  auto* knob = app.add_option("--mtu-knob", options.mtu_knob,
                              "whose setting of the path MTU is used: ucx, openib, mvapich2, mvapich, none")
                   ->capture_default_str();
  app.add_option("--mtu-env", options.mtu_env, "another setting, as NAME=%d (%d: the path MTU in bytes)")
      ->excludes(knob);
  app.add_option("--mpi-program", options.program,
                 "mtuscope-mpi on the hosts (default: beside this program or in its build, else in PATH)");
  add_parsed(app, "--launch-timeout", "deadline of one launch", [&options](const std::string& text) {
    options.launch_timeout_ns = parse_duration_ns(text);
    if (options.launch_timeout_ns == 0) throw ConfigError{"0 would wait for ever; write a time such as 10min"};
  })->default_str("10min");
  add_output(app, options.sweep);
  app.add_option("options", options.rank_options,
                 "after --: options of mtuscope-mpi sweep, see mtuscope-mpi sweep --help");
}

constexpr auto kSweepHelp = "measure bandwidth or latency per message size under each path MTU";

void add_commands(CLI::App& app, AllOptions& all) {
  auto* devices = app.add_subcommand("devices", "every RDMA device and port, and the GID we would choose");
  devices->add_flag("--json", all.devices.json, "as JSON");
  add_serve(*app.add_subcommand("serve", "be the other end for `mtuscope sweep --peer`"), all.serve);
  add_sweep(*app.add_subcommand("sweep", kSweepHelp), all.sweep, Program::mtuscope);
  add_mpi(*app.add_subcommand("mpi", "launch mtuscope-mpi once per path MTU and arrangement, and merge the records"),
          all.mpi);
  auto* validate = app.add_subcommand("validate", "check records and name the JSON path of a fault");
  validate->add_option("file", all.validate.files, "records")->required();
  auto* tables = app.add_subcommand("tables", "the posted tables that runs can be compared with");
  tables->add_flag("--json", all.tables.json, "as JSON");
  add_blocks(*app.add_subcommand("blocks", "at which working set of registered blocks a run becomes slow"), all.blocks);
  auto* compare = app.add_subcommand("compare", "a run beside a posted table: residuals, crossovers, laws");
  compare->add_option("run", all.compare.run, "record, or the id of a posted table")->required();
  compare->add_option("--to", all.compare.table, "id of a posted table (mtuscope tables), or a record")->required();
  compare->add_flag("--require", all.compare.require, "exit 1 if a law of the table fails, 4 if one is not tested");
}

/// CLI11 says of a word it does not know in the command's place only that no command was given.
std::string name_mistake(int argc, const char* const* argv, const CLI::App& app, const std::string& otherwise) {
  if (argc < 2) return otherwise;
  const std::string word{argv[1]};
  const auto known = app.get_subcommands([&](const CLI::App* command) { return command->get_name() == word; });
  if (!known.empty()) return otherwise;
  return std::string{word.starts_with('-') ? "there is no option \"" : "there is no command \""} + word + "\"";
}

std::string one_line(std::string text) {
  for (auto& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

}  // namespace

std::variant<Request, HelpText> parse_command_line(int argc, const char* const* argv, Program program) {
  const bool by_mpi = program == Program::mtuscope_mpi;
  const std::string name = by_mpi ? "mtuscope-mpi" : "mtuscope";
  CLI::App app{name + ": bandwidth, message rate and latency against message size under each path MTU", name};
  app.require_subcommand(1);
  Request request;
  AllOptions all;
  app.set_version_flag("--version", name + " " + kVersion + " (" + kGitRevision + ")");
  app.add_flag("--quiet", request.quiet, "no progress, tables or notes");
  app.add_flag("--no-color", request.no_color, "no colour, even on a terminal (as the variable NO_COLOR)");
  if (by_mpi) {
    // The options that `mtuscope mpi` adds come last and win.
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    add_sweep(*app.add_subcommand("sweep", kSweepHelp), all.sweep, program);
  } else {
    add_commands(app, all);
  }
  for (auto* command : app.get_subcommands({})) command->fallthrough();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    return HelpText{std::string{version.what()} + "\n"};
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    return HelpText{chosen.empty() ? app.help() : chosen.front()->help()};
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    const bool misplaced = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) && !chosen.empty() &&
                           chosen.front()->get_name() == "mpi";
    throw ConfigError{one_line(chosen.empty() ? name_mistake(argc, argv, app, error.what()) : error.what()) +
                      (misplaced ? " (options of the ranks' sweep follow --)" : "") + ": see " + name + " " +
                      (chosen.empty() ? "" : chosen.front()->get_name() + " ") + "--help"};
  }
  const auto* chosen = app.get_subcommands().front();
  const auto given = [&](const char* option) { return chosen->get_name() == "sweep" && chosen->count(option) > 0; };
  all.sweep.tx_depth_given = given("--tx-depth");
  all.sweep.rx_depth_given = given("--rx-depth");
  request.command = pick(chosen->get_name(), all);
  return request;
}

}  // namespace mtuscope::cli
