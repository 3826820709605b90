#include <array>
#include <istream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "mtuscope/records/json_tree.hpp"

namespace mtuscope::records {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxTokenBytes = 16U << 20U;
constexpr std::size_t kMaxMembers = 1024;
constexpr std::size_t kMaxNodes = 4'000'000;
constexpr std::size_t kMaxTextBytes = 256U << 20U;
constexpr std::uint32_t kOpen = UINT32_MAX;  // `end` of a container that is not closed yet

/// The bytes of a stream, in chunks; `limit` bounds how many are read before the next value is complete.
struct ByteSource {
  std::istream* in;
  std::array<char, std::size_t{64} * 1024> chunk{};
  const char* at = nullptr;
  const char* stop = nullptr;
  std::size_t since_value = 0;
  std::function<void(const char*)> fail;

  void refill() {
    in->read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    if (in->bad()) throw RunError("cannot read the input: the stream failed; check the file and its medium");
    const auto count = static_cast<std::size_t>(in->gcount());
    since_value += count;
    if (since_value > kMaxTokenBytes + chunk.size()) fail("a string or number of more than 16 MiB");
    at = chunk.data();
    stop = at + count;
  }
  [[nodiscard]] bool more() {
    if (at == stop) refill();
    return at != stop;
  }
};

/// What nlohmann's lexer reads from. The end iterator has no source.
class ByteIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  explicit ByteIterator(ByteSource* source) noexcept : source_(source) {}
  reference operator*() const noexcept { return *source_->at; }
  ByteIterator& operator++() noexcept {
    ++source_->at;
    return *this;
  }
  void operator++(int) noexcept { ++source_->at; }
  friend bool operator==(const ByteIterator& a, const ByteIterator&) { return !a.source_->more(); }
  friend bool operator!=(const ByteIterator& a, const ByteIterator& b) { return !(a == b); }

 private:
  ByteSource* source_;
};

/// Builds JsonTrees from the parser's events: one for the document, one reused for each element of the long array.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view name, const JsonElements* elements, ByteSource& source)
      : elements_(elements), source_(source) {
    root_.file_name = element_.file_name = name;
    if (elements_ != nullptr) element_.base_path = "/" + std::string(elements_->member);
    source_.fail = [this](const char* fault) { fail_here(fault); };
  }
  [[nodiscard]] JsonTree take_root() { return std::move(root_); }

  bool null() {
    add(JsonKind::null);
    return end_value();
  }
  bool boolean(bool value) {
    add(JsonKind::boolean).boolean = value;
    return end_value();
  }
  bool number_integer(std::int64_t value) {
    if (value >= 0) return number_unsigned(static_cast<std::uint64_t>(value));
    add(JsonKind::integer).integer = value;
    return end_value();
  }
  bool number_unsigned(std::uint64_t value) {
    add(JsonKind::unsigned_integer).unsigned_integer = value;
    return end_value();
  }
  bool number_float(double value, const std::string&) {
    add(JsonKind::number).number = value;
    return end_value();
  }
  bool string(const std::string& value) {
    auto& node = add(JsonKind::string);
    node.text_begin = static_cast<std::uint32_t>(tree_->text.size());
    node.text_size = static_cast<std::uint32_t>(value.size());
    append_text(value);
    return end_value();
  }
  bool binary(nlohmann::json::binary_t&) { return false; }  // only binary formats have it
  bool key(const std::string& value) {
    auto& level = levels_[depth_ - 1];
    const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>{}(value));
    for (const auto& known : level.key_hashes) {
      if (known == hash && tree_->find(level.node, value)) fail_here("the key \"" + value + "\" appears twice");
    }
    if (level.key_hashes.size() >= kMaxMembers) fail_here("an object of more than 1024 members");
    level.key_hashes.push_back(hash);
    tree_->nodes[level.node].unsigned_integer |= key_bit(value);
    key_begin_ = static_cast<std::uint32_t>(tree_->text.size());
    key_size_ = static_cast<std::uint32_t>(value.size());
    append_text(value);
    return true;
  }
  bool start_object(std::size_t) { return open(JsonKind::object); }
  bool end_object() { return close(); }
  bool start_array(std::size_t) {
    const bool is_long = elements_ != nullptr && tree_ == &root_ && depth_ == 1 && pending_key() == elements_->member;
    open(JsonKind::array);
    if (!is_long) return true;
    elements_->on_header(closed_copy());
    tree_ = &element_;
    element_.element = 0;
    return true;
  }
  bool end_array() {
    if (tree_ == &element_ && depth_ == 2) tree_ = &root_;
    return close();
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
    std::string_view what = error.what();
    what.remove_prefix(std::min(what.find("] ") + 2, what.size()));  // "[json.exception.parse_error.101] "
    fail_here(std::string("not valid JSON: ").append(what.substr(0, 300)));
  }

 private:
  struct Level {
    std::uint32_t node = 0;
    std::vector<std::uint32_t> key_hashes;
  };

  [[nodiscard]] std::string_view pending_key() const {
    return std::string_view(tree_->text).substr(key_begin_, key_size_);
  }

  [[noreturn]] void fail_here(std::string_view fault) const {
    if (!tree_->nodes.empty()) tree_->fail(innermost(), fault);
    std::string path = tree_->base_path;
    if (tree_->element) path.append("/").append(std::to_string(*tree_->element));
    throw SchemaError(tree_->file_name, path, fault);
  }
  /// The innermost open container of the current tree.
  [[nodiscard]] std::uint32_t innermost() const {
    const std::size_t base = tree_ == &element_ ? 2 : 0;
    return depth_ > base ? levels_[depth_ - 1].node : 0;
  }

  void append_text(const std::string& value) {
    if (tree_->text.size() + value.size() > kMaxTextBytes) fail_here("more than 256 MiB of text");
    tree_->text += value;
    source_.since_value = 0;
  }

  JsonNode& add(JsonKind kind) {
    auto& nodes = tree_->nodes;
    if (nodes.size() >= kMaxNodes) fail_here("more than 4 million values outside of the long array, or in one element");
    const auto index = static_cast<std::uint32_t>(nodes.size());
    auto& node = nodes.emplace_back();
    node.kind = kind;
    node.key_begin = key_size_ == 0 ? 0 : key_begin_;
    node.key_size = key_size_;
    node.end = index + 1;
    key_size_ = 0;
    source_.since_value = 0;
    return node;
  }

  bool open(JsonKind kind) {
    if (depth_ == kMaxDepth) fail_here("nested deeper than 64 levels");
    auto& node = add(kind);
    node.end = kOpen;
    auto& level = levels_[depth_++];
    level.node = static_cast<std::uint32_t>(tree_->nodes.size() - 1);
    level.key_hashes.clear();
    return true;
  }
  bool close() {
    auto& nodes = tree_->nodes;
    nodes[levels_[--depth_].node].end = static_cast<std::uint32_t>(nodes.size());
    return end_value();
  }
  /// An element of the long array is complete when the parser is back at the array's own depth.
  bool end_value() {
    if (tree_ != &element_ || depth_ != 2) return true;
    elements_->on_element(element_);
    element_.nodes.clear();
    element_.text.clear();
    ++*element_.element;
    return true;
  }
  /// The document so far, with its open containers closed.
  [[nodiscard]] JsonTree closed_copy() const {
    JsonTree copy = root_;
    for (std::size_t i = 0; i < depth_; ++i)
      copy.nodes[levels_[i].node].end = static_cast<std::uint32_t>(copy.nodes.size());
    return copy;
  }

  const JsonElements* elements_;
  ByteSource& source_;
  JsonTree root_;
  JsonTree element_;
  JsonTree* tree_ = &root_;
  std::array<Level, kMaxDepth> levels_;
  std::size_t depth_ = 0;
  std::uint32_t key_begin_ = 0;
  std::uint32_t key_size_ = 0;
};

}  // namespace

JsonTree parse_json(std::istream& in, std::string_view name, const JsonElements* elements) {
  ByteSource source{.in = &in, .fail = {}};
  TreeBuilder builder(name, elements, source);
  nlohmann::json::sax_parse(ByteIterator(&source), ByteIterator(nullptr), &builder);
  return builder.take_root();
}

}  // namespace mtuscope::records
