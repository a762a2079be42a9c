// numpy arrays in and out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

namespace conjunto::bind {

namespace nb = nanobind;

template <class T, class Shape>
using In = nb::ndarray<const T, Shape, nb::c_contig, nb::device::cpu>;
template <class T>
using In1 = In<T, nb::ndim<1>>;
template <class T>
using In2 = In<T, nb::ndim<2>>;
template <class T>
using In3 = In<T, nb::ndim<3>>;
// Rows in any order of their values.
using InRows = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T>;

inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

// numpy allows arrays that are not aligned; C++ does not.
template <class Array>
void require_aligned(const Array& array) {
    if (reinterpret_cast<std::uintptr_t>(array.data()) % alignof(typename Array::Scalar) != 0)
        throw std::invalid_argument("arrays must be aligned: use numpy.require(array, requirements='CA')");
}

// A new array; the caller fills it.
template <class T>
Out<T> new_array(std::initializer_list<std::size_t> shape) {
    std::size_t size = 1;
    for (const std::size_t side : shape)
        if (__builtin_mul_overflow(size, side, &size) || size > std::size_t{1} << 48) throw std::bad_alloc();
    auto data = std::make_unique<T[]>(size);
    T* pointer = data.get();
    nb::capsule owner(pointer, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    data.release();
    return Out<T>(pointer, shape, owner);
}

template <class T>
Out<T> copy_array(const std::vector<T>& values) {
    Out<T> out = new_array<T>({values.size()});
    std::copy(values.begin(), values.end(), out.data());
    return out;
}

void init_c45(nb::module_& m);
void init_draw(nb::module_& m);
void init_forest(nb::module_& m);
void init_grow(nb::module_& m);
void init_order(nb::module_& m);
void init_subset(nb::module_& m);
void init_views(nb::module_& m);

}  // namespace conjunto::bind
