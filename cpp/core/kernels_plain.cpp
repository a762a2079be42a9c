#include "kernels.hpp"

#include <cstring>
#include <type_traits>

namespace conjunto {

namespace {
#include "kernels.inl"
}  // namespace

const Kernels& plain_kernels() {
    static const Kernels kernels{"plain",
                                 {sort_lanes<4>, sort_lanes<8>},
                                 {scan_two_classes<4>, scan_two_classes<8>},
                                 {scan_classes<4>, scan_classes<8>},
                                 {scan_moments<4>, scan_moments<8>},
                                 scan_presorted,
                                 scan_bins,
                                 scan_class_bins<std::int32_t>,
                                 scan_class_bins<double>,
                                 scan_moment_bins,
                                 divide,
                                 select,
                                 interleave,
                                 partition,
                                 evaluate,
                                 count,
                                 count_and,
                                 count_xor,
                                 scan_subsets};
    return kernels;
}

}  // namespace conjunto
