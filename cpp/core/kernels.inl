// Included by kernels_plain.cpp and kernels_avx2.cpp inside a namespace of their own.

#include "kernels_lanes.inl"
#include "kernels_presorted.inl"
#include "kernels_bins.inl"
#include "kernels_moves.inl"
#include "kernels_predict.inl"
#include "kernels_subsets.inl"
