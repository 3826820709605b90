#include "mtuscope/records/schema.hpp"

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "mtuscope/records/embedded_schema.hpp"

namespace mtuscope::records {
namespace {

using nlohmann::json;

/// Depth is bounded by the parser that built the tree.
json to_document(const JsonTree& tree, std::uint32_t index) {
  const auto& node = tree.nodes[index];
  switch (node.kind) {
    case JsonKind::null:
      return nullptr;
    case JsonKind::boolean:
      return node.boolean;
    case JsonKind::unsigned_integer:
      return node.unsigned_integer;
    case JsonKind::integer:
      return node.integer;
    case JsonKind::number:
      return node.number;
    case JsonKind::string:
      return std::string(tree.string(index));
    case JsonKind::object:
    case JsonKind::array:
      break;
  }
  const bool is_object = node.kind == JsonKind::object;
  json container = is_object ? json::object() : json::array();
  for (auto child = index + 1; child < node.end; child = tree.nodes[child].end) {
    if (is_object) {
      container.emplace(tree.key(child), to_document(tree, child));
    } else {
      container.push_back(to_document(tree, child));
    }
  }
  return container;
}

/// valijson's context is "<root>", "[\"points\"]", "[3]", ...; a JSON pointer is wanted.
std::string pointer_of(const std::vector<std::string>& context) {
  std::string pointer;
  for (std::size_t i = 1; i < context.size(); ++i) {
    std::string_view step = context[i];
    const std::size_t quotes = step.starts_with("[\"") ? 2 : 1;
    if (step.size() >= 2 * quotes) step = step.substr(quotes, step.size() - 2 * quotes);
    pointer.append("/").append(step);
  }
  return pointer;
}

/// The deepest of the faults is the one that says most.
void check(const valijson::Schema& schema, const json& document, const std::string& file_name,
           const std::string& base) {
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), &results)) return;
  valijson::ValidationResults::Error deepest;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    if (error.context.size() > deepest.context.size()) deepest = error;
  }
  throw SchemaError(file_name, base + pointer_of(deepest.context), deepest.description);
}

}  // namespace

struct SchemaCheck::Schemas {
  valijson::Schema record;
  valijson::Schema point;
};

std::string_view record_schema_text() noexcept { return kEmbeddedRecordSchema; }

SchemaCheck::SchemaCheck(std::string_view file_name) : file_name_(file_name) {
  const auto text = json::parse(kEmbeddedRecordSchema);
  json point = {
      {"$schema", text.at("$schema")}, {"definitions", text.at("definitions")}, {"$ref", "#/definitions/point"}};
  auto schemas = std::make_unique<Schemas>();
  valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(text), schemas->record);
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(point), schemas->point);
  schemas_ = std::move(schemas);
}

SchemaCheck::~SchemaCheck() = default;

void SchemaCheck::header(const JsonTree& tree) const { check(schemas_->record, to_document(tree, 0), file_name_, ""); }

void SchemaCheck::point(const JsonTree& tree) const {
  check(schemas_->point, to_document(tree, 0), file_name_, tree.path(0));
}

}  // namespace mtuscope::records
