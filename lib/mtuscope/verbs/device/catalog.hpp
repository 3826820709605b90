#pragma once
#include <cstdint>
#include <string>

namespace mtuscope::verbs {

/// "Mellanox MT23108 (Tavor)" for a known part, the vendor alone for a known vendor, else empty. `vendor_id` is the
/// IEEE OUI that verbs reports, or a PCI vendor id. Parts: the PCI id tables of the Linux drivers mthca, mlx4, mlx5,
/// qib, hfi1, irdma, bnxt_re, and rxe.
[[nodiscard]] std::string part_name(std::uint32_t vendor_id, std::uint32_t part_id);

/// Whether this is the MT23108, whose bandwidth drops at a 2K path MTU. Part 23108 (0x5a44) under the four vendor ids
/// it was sold with: Mellanox 0x2c9, Topspin 0x5ad, Voltaire 0x8f1, SilverStorm 0x66a. Source: the OpenSM patch of 2006
/// that gave these devices 1K.
[[nodiscard]] bool is_tavor(std::uint32_t vendor_id, std::uint32_t part_id) noexcept;

}  // namespace mtuscope::verbs
