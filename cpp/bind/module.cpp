#include "../core/kernels.hpp"
#include "arrays.hpp"

NB_MODULE(_core, m) {
    // Models that are alive when the interpreter ends are no leak worth a page of warnings.
    nanobind::set_leak_warnings(false);
    m.doc() = "The native core of conjunto: arrays in, arrays out.";
    conjunto::bind::init_draw(m);
    conjunto::bind::init_forest(m);
    conjunto::bind::init_views(m);
    conjunto::bind::init_grow(m);
    conjunto::bind::init_c45(m);
    conjunto::bind::init_order(m);
    conjunto::bind::init_subset(m);
    m.def("kernel_name", [] { return conjunto::best_kernels().name; }, "The vector kernels in use.");
}
