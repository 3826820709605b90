#include "mtuscope/verbs/device/catalog.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace mtuscope::verbs {
namespace {

constexpr std::uint32_t kTavorPart = 23108;
constexpr std::array<std::uint32_t, 4> kTavorVendors{0x2c9, 0x5ad, 0x66a, 0x8f1};

struct Vendor {
  std::uint32_t id;
  std::string_view name;
  bool sells_mellanox;  ///< parts carry Mellanox part numbers
};

constexpr std::array kVendors{
    Vendor{0x02c9, "Mellanox", true},    Vendor{0x15b3, "Mellanox", true},     Vendor{0x05ad, "Topspin", true},
    Vendor{0x066a, "SilverStorm", true}, Vendor{0x08f1, "Voltaire", true},     Vendor{0x1175, "Intel (QLogic)", false},
    Vendor{0x1077, "QLogic", false},     Vendor{0x8086, "Intel", false},       Vendor{0x14e4, "Broadcom", false},
    Vendor{0x1425, "Chelsio", false},    Vendor{0x15ad, "VMware", false},      Vendor{0x1d0f, "Amazon", false},
    Vendor{0x19e5, "Huawei", false},     Vendor{0xffffff, "Soft-RoCE", false},
};

struct Part {
  std::uint32_t id;
  std::string_view name;
};

constexpr std::array kMellanoxParts{
    Part{23108, "MT23108 (Tavor)"},
    Part{24204, "MT24204 (InfiniHost III Lx, Sinai)"},
    Part{25204, "MT25204 (InfiniHost III Lx, Sinai)"},
    Part{25208, "MT25208 (InfiniHost III Ex, Tavor mode)"},
    Part{25218, "MT25218 (InfiniHost III Ex, Arbel)"},
    Part{25408, "MT25408 (ConnectX SDR)"},
    Part{25418, "MT25418 (ConnectX DDR)"},
    Part{25448, "MT25448 (ConnectX EN)"},
    Part{26418, "MT26418 (ConnectX DDR, PCIe 2.0)"},
    Part{26428, "MT26428 (ConnectX-2 QDR)"},
    Part{26438, "MT26438 (ConnectX-2 VPI)"},
    Part{26448, "MT26448 (ConnectX-2 EN)"},
    Part{4096, "MT27500 (ConnectX-3 virtual function)"},
    Part{4099, "MT27500 (ConnectX-3)"},
    Part{4103, "MT27520 (ConnectX-3 Pro)"},
    Part{4113, "MT27600 (Connect-IB)"},
    Part{4115, "MT27700 (ConnectX-4)"},
    Part{4116, "MT27700 (ConnectX-4 virtual function)"},
    Part{4117, "MT27710 (ConnectX-4 Lx)"},
    Part{4119, "MT27800 (ConnectX-5)"},
    Part{4121, "MT28800 (ConnectX-5 Ex)"},
    Part{4123, "MT28908 (ConnectX-6)"},
    Part{4125, "MT2892 (ConnectX-6 Dx)"},
    Part{4127, "MT2894 (ConnectX-6 Lx)"},
    Part{4129, "MT2910 (ConnectX-7)"},
    Part{4131, "ConnectX-8"},
    Part{41682, "MT416842 (BlueField)"},
    Part{41686, "MT42822 (BlueField-2)"},
    Part{41692, "MT43244 (BlueField-3)"},
};

}  // namespace

std::string part_name(std::uint32_t vendor_id, std::uint32_t part_id) {
  const auto* const vendor =
      std::find_if(kVendors.begin(), kVendors.end(), [&](const Vendor& v) { return v.id == vendor_id; });
  if (vendor == kVendors.end()) return {};
  if (vendor->sells_mellanox) {
    const auto* const part =
        std::find_if(kMellanoxParts.begin(), kMellanoxParts.end(), [&](const Part& p) { return p.id == part_id; });
    if (part != kMellanoxParts.end()) return std::string{vendor->name}.append(" ").append(part->name);
  }
  return std::string{vendor->name};
}

bool is_tavor(std::uint32_t vendor_id, std::uint32_t part_id) noexcept {
  return part_id == kTavorPart &&
         std::find(kTavorVendors.begin(), kTavorVendors.end(), vendor_id) != kTavorVendors.end();
}

}  // namespace mtuscope::verbs
