#pragma once
#include <string>
#include <string_view>

#include "mtuscope/report/text_table.hpp"

namespace mtuscope::cli {

/// Where words for people go. The only writer to standard output and error besides the record itself.
class Console {
 public:
  struct Settings {
    bool quiet = false;
    bool color = false;             ///< allowed; used only on a terminal
    bool output_is_record = false;  ///< `--out -`: standard output belongs to the record, words go to standard error
  };
  explicit Console(const Settings& settings);

  [[nodiscard]] report::Color color() const noexcept { return color_; }
  [[nodiscard]] bool quiet() const noexcept { return settings_.quiet; }
  /// Whether what `say` writes is seen as it comes.
  [[nodiscard]] bool says_to_terminal() const noexcept { return says_to_terminal_; }
  /// Whether a progress line can be drawn on standard error.
  [[nodiscard]] bool can_show_progress() const noexcept { return redraws_errors_ && !settings_.quiet; }

  /// Tables, notes and results that --quiet leaves out.
  void say(std::string_view text) const;
  /// What a command was asked for, in spite of --quiet. Throws SystemError if standard output cannot be written.
  static void answer(std::string_view text);
  /// To standard error, in spite of --quiet: "mtuscope: ...".
  static void complain(std::string_view message);
  /// The name that complaints begin with; it must outlive the program's complaints.
  static void name_program(std::string_view name) noexcept;
  /// To standard error as it is, for the progress line.
  static void draw(std::string_view text);

 private:
  Settings settings_;
  bool redraws_errors_;
  bool says_to_terminal_;
  report::Color color_;
};

}  // namespace mtuscope::cli
