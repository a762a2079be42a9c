// Included by kernels_plain.cpp and kernels_avx2.cpp inside a namespace of their own: large nodes, the bins of a column.

// Two classes, integer weights: the score behind each bin, and at the corners of what can be reached inside
// it (all of one class first). At the ends it is 0 / 0, which compares as worse than anything.
BinOutlook scan_bins(const BinScan& job) {
    typedef std::int32_t Int __attribute__((vector_size(16)));
    typedef double Real __attribute__((vector_size(32)));
    typedef std::int64_t Long __attribute__((vector_size(32)));
    constexpr int most = 256;
    alignas(32) std::int32_t weight[most + 8], one[most + 8], first[most + 4], second[most + 4];
    const std::int32_t* const counts = job.counts;
    const double total = job.total, ones = job.class_total[1];
    const int bins = job.bins;
    std::int32_t w = job.start ? job.start[0] + job.start[1] : 0, s = job.start ? job.start[1] : 0;
    for (int bin = 0; bin < bins; ++bin) {
        const std::int32_t c0 = counts[2 * bin], c1 = counts[2 * bin + 1];
        weight[bin] = w;
        one[bin] = s;
        // A bin of one class has nothing inside that its edges do not have.
        const bool mixed = c0 > 0 && c1 > 0;
        first[bin] = mixed ? c0 : 0;
        second[bin] = mixed ? c1 : 0;
        w += c0 + c1;
        s += c1;
    }
    for (int bin = bins; bin < bins + 5; ++bin) {
        weight[bin] = w;
        one[bin] = s;
        if (bin < most + 4) first[bin] = second[bin] = 0;
    }
    auto load = [](const std::int32_t* data) {
        Int values;
        std::memcpy(&values, data, sizeof values);
        return __builtin_convertvector(values, Real);
    };
    auto score = [&](Real left, Real moment) {
        const Real d = moment * total - left * ones;
        return d * d / (left * (total - left));
    };
    const Real never = Real{} - __builtin_inf();
    Real best = never, reach = never;
    Long place{}, here{0, 1, 2, 3};
    for (int bin = 0; bin < bins; bin += 4) {
        const Real left = load(weight + bin), moment = load(one + bin), c0 = load(first + bin), c1 = load(second + bin);
        const Real to = load(weight + bin + 1), edge = score(to, load(one + bin + 1));
        const Long better = (Long)(edge > best) & (Long)(to > left);
        best = better ? edge : best;
        place = better ? here : place;
        const Real zeros_first = score(left + c0, moment), ones_first = score(left + c1, moment + c1);
        const Long mixed = (Long)(c0 > 0);
        reach = (mixed & (Long)(zeros_first > reach)) ? zeros_first : reach;
        reach = (mixed & (Long)(ones_first > reach)) ? ones_first : reach;
        here += 4;
    }
    BinOutlook outlook;
    for (int l = 0; l < 4; ++l) {
        const auto bin = static_cast<std::size_t>(place[l]);
        if (best[l] > outlook.edge_score || (best[l] == outlook.edge_score && best[l] > never[l] && bin < outlook.edge)) {
            outlook.edge_score = best[l];
            outlook.edge = bin;
        }
        if (reach[l] > outlook.reach) outlook.reach = reach[l];
    }
    return outlook;
}

// The same for a variance, or two classes with real weights; (256 bins, weight, moment, weight * target^2). Inside a bin
// the left moment strays from the line between its edges by at most half the absolute deviations of the bin, which
// Cauchy-Schwarz bounds. In the first and the last bin, where the score has a pole, its squares bound it.
BinOutlook scan_moment_bins(const double* sums, int bins, const double* start, double total, double moment,
                            double min_weight) {
    typedef double Real __attribute__((vector_size(32)));
    typedef std::int64_t Long __attribute__((vector_size(32)));
    constexpr int most = 256;
    alignas(32) double left[most + 4], left_moment[most + 4], spread[most], size[most], end[most];
    double w = start ? start[0] : 0, m = start ? start[1] : 0;
    const double mean = moment / total;
    for (int bin = 0; bin < bins; ++bin) {
        const double* sum = sums + 3 * bin;
        left[bin] = w;
        left_moment[bin] = m;
        size[bin] = sum[0];
        const double squares = sum[0] * sum[2] - sum[1] * sum[1], product = sum[0] * sum[2];
        // The slack covers the rounding of the difference.
        spread[bin] = 0.5 * __builtin_sqrt((squares > 0 ? squares : 0.0) + 1e-12 * product);
        end[bin] = end_bound(sum, total, mean);
        w += sum[0];
        m += sum[1];
    }
    left[bins] = w;
    left_moment[bins] = m;
    auto load = [](const double* data) {
        Real values;
        std::memcpy(&values, data, sizeof values);
        return values;
    };
    const Real never = Real{} - __builtin_inf();
    Real best = never, reach = never;
    Long place{}, here{0, 1, 2, 3};
    for (int bin = 0; bin < bins; bin += 4) {
        const Real from = load(left + bin), to = load(left + bin + 1), stray = load(spread + bin) * total;
        const Real d_from = load(left_moment + bin) * total - from * moment;
        const Real d_to = load(left_moment + bin + 1) * total - to * moment;
        const Long there = (Long)(load(size + bin) > 0);
        const Real edge = d_to * d_to / (to * (total - to));
        const Long better = there & (Long)(edge > best) & (Long)(to >= min_weight) & (Long)(total - to >= min_weight);
        best = better ? edge : best;
        place = better ? here : place;
        const Real far_from = (d_from > 0 ? d_from : -d_from) + stray, far_to = (d_to > 0 ? d_to : -d_to) + stray;
        const Real low = far_from * far_from / (from * (total - from)), high = far_to * far_to / (to * (total - to));
        const Real outer = load(end + bin);
        Real bound = low > high ? low : high;
        bound = from > 0 ? bound : outer / (total - to);
        bound = to < total ? bound : outer / from;
        reach = (there & (Long)(bound > reach)) ? bound : reach;
        here += 4;
    }
    BinOutlook outlook;
    for (int l = 0; l < 4; ++l) {
        const auto bin = static_cast<std::size_t>(place[l]);
        if (best[l] > outlook.edge_score || (best[l] == outlook.edge_score && best[l] > never[l] && bin < outlook.edge)) {
            outlook.edge_score = best[l];
            outlook.edge = bin;
        }
        if (reach[l] > outlook.reach) outlook.reach = reach[l];
    }
    return outlook;
}


// More classes, bin by bin, four classes at a time. Inside a bin of c_k rows of class k, where l_k lie left and r_k right
// of its first row: x_k of them moved add sum x_k (2 l_k + x_k) <= m g to the left squares and take
// sum x_k (2 r_k - x_k) >= m h from the right ones, with m = sum x_k, g and h the largest 2 l_k + c_k and the smallest
// 2 r_k - c_k of its classes. Divided by the weights both bounds are monotone in m, so their ends bound them; where a side
// is empty at one end, its part of the score is at most its largest class.
template <int P, class Count>
BinOutlook scan_class_bins_of(const BinScanOf<Count>& job, int parts) {
    typedef double Real __attribute__((vector_size(32)));
    typedef std::int64_t Long __attribute__((vector_size(32)));
    constexpr int most_parts = P ? P : 64;
    if (P) parts = P;
    auto load = [](const Count* data) {
        typedef Count Four __attribute__((vector_size(4 * sizeof(Count))));
        Four values;
        std::memcpy(&values, data, sizeof values);
        return __builtin_convertvector(values, Real);
    };
    auto sum = [](Real x) { return (x[0] + x[1]) + (x[2] + x[3]); };
    auto larger = [](Real a, Real b) { return a > b ? a : b; };
    auto most_of = [](double a, double b) { return a > b ? a : b; };
    auto top = [&](Real x) { return most_of(most_of(x[0], x[1]), most_of(x[2], x[3])); };
    Real left[most_parts], totals[most_parts];
    Real square{}, right_square{}, size{};
    for (int p = 0; p < parts; ++p) {
        std::memcpy(&totals[p], job.class_total + 4 * p, sizeof(Real));
        left[p] = job.start ? load(job.start + 4 * p) : Real{};
        const Real right = totals[p] - left[p];
        square += left[p] * left[p];
        right_square += right * right;
        size += left[p];
    }
    double weight = sum(size), left_squares = sum(square), right_squares = sum(right_square);
    BinOutlook outlook;
    auto visit = [&](int bin) {
        const Count* counts = job.counts + static_cast<std::ptrdiff_t>(bin) * job.stride;
        Real most = Real{} - __builtin_inf(), least = most, heaviest{}, rest{};
        square = right_square = size = Real{};
        for (int p = 0; p < parts; ++p) {
            const Real c = load(counts + 4 * p), to = left[p] + c, right = totals[p] - to;
            if (job.bound) {
                const Long here = (Long)(c > 0);
                const Real gain = left[p] + to, loss = -(totals[p] - left[p] + right);
                most = here & (Long)(gain > most) ? gain : most;
                least = here & (Long)(loss > least) ? loss : least;
                heaviest = larger(heaviest, to);
                rest = larger(rest, totals[p] - left[p]);
            }
            left[p] = to;
            square += to * to;
            right_square += right * right;
            size += c;
        }
        const double moved = sum(size), from = weight, to = weight + moved, right = job.total - to;
        if (job.bound && moved > 0) {
            const double g = top(most), h = -top(least);
            double left_part = (left_squares + moved * g) / to;
            left_part = from > 0 ? most_of(left_part, left_squares / from) : top(heaviest);
            const double before = right_squares / (job.total - from);
            const double right_part = right > 0 ? most_of(before, (right_squares - moved * h) / right) : top(rest);
            job.bound[bin] = left_part + right_part;
            outlook.reach = most_of(outlook.reach, job.bound[bin]);
        }
        weight = to;
        left_squares = sum(square);
        right_squares = sum(right_square);
        // Squares grow by what moves: a bin without rows repeats the score before it.
        if (!(right > 0) || !(moved > 0) || weight < job.min_weight || right < job.min_weight) return;
        const double score = gini_score(left_squares, right_squares, weight, right);
        if (score > outlook.edge_score) {
            outlook.edge_score = score;
            outlook.edge = static_cast<std::size_t>(bin);
        }
    };
    if (!job.present) {
        for (int bin = 0; bin < job.bins; ++bin) visit(bin);
        return outlook;
    }
    for (int first = 0; first < job.bins; first += 8) {
        std::uint64_t flags;
        std::memcpy(&flags, job.present + first, sizeof flags);
        // One bit of each of the eight bytes, side by side.
        auto mask = static_cast<unsigned>(flags * 0x0102040810204080U >> 56);
        if (first + 8 > job.bins) mask &= (1U << (job.bins - first)) - 1;
        for (; mask; mask &= mask - 1) visit(first + __builtin_ctz(mask));
    }
    return outlook;
}

template <class Count>
BinOutlook scan_class_bins(const BinScanOf<Count>& job) {
    switch (job.stride / 4) {
        case 1: return scan_class_bins_of<1, Count>(job, 1);
        case 2: return scan_class_bins_of<2, Count>(job, 2);
        case 3: return scan_class_bins_of<3, Count>(job, 3);
        case 4: return scan_class_bins_of<4, Count>(job, 4);
        case 7: return scan_class_bins_of<7, Count>(job, 7);
        default: return scan_class_bins_of<0, Count>(job, job.stride / 4);
    }
}
