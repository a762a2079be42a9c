// Included by kernels_plain.cpp and kernels_avx2.cpp inside a namespace of their own: small nodes, columns side by side.

template <int L>
struct Lanes {
    typedef std::uint32_t Word __attribute__((vector_size(4 * L)));
    typedef std::int32_t Int __attribute__((vector_size(4 * L)));
    typedef float Single __attribute__((vector_size(4 * L)));
};

// Batcher's merge exchange (Knuth, Algorithm 5.2.2M): a sorting network for any n. The compare-exchange
// acts on all lanes at once, so it needs neither branches nor shuffles.
template <int L>
void sort_lanes(std::uint32_t* keys, int n) {
    using Word = typename Lanes<L>::Word;
    auto* a = reinterpret_cast<Word*>(keys);
    if (n < 2) return;
    int top = 1;
    while (2 * top < n) top *= 2;
    for (int p = top; p > 0; p /= 2) {
        int q = top, r = 0, d = p;
        while (true) {
            for (int start = r; start < n - d; start += 2 * p) {
                const int end = start + p < n - d ? start + p : n - d;
                for (int i = start; i < end; ++i) {
                    const Word x = a[i], y = a[i + d];
                    a[i] = x < y ? x : y;
                    a[i + d] = x < y ? y : x;
                }
            }
            if (q == p) break;
            d = q - p;
            q /= 2;
            r = p;
        }
    }
}

#ifndef CONJUNTO_INTRINSICS
// About 1 / x; the AVX2 set has a faster one that rounds differently, which the slack of rough scores covers.
template <class Single>
Single reciprocal(Single x) {
    return 1.0F / x;
}

template <class Mask>
unsigned set_lanes(Mask mask) {
    unsigned bits = 0;
    for (unsigned l = 0; l < sizeof(Mask) / 4; ++l) bits |= static_cast<unsigned>(mask[l] & 1) << l;
    return bits;
}

#endif

// Keeps the best cut of a scan and the exact rules for equal scores.
struct BestCut {
    LaneScan& job;
    void offer(int column, int place, double weight, double score) {
        if (!(score > job.score || (score == job.score && column < job.column))) return;
        if (weight < job.min_weight || job.total - weight < job.min_weight) return;
        job.score = score;
        job.column = column;
        job.place = place;
    }
};

template <int L, bool kPacked>
std::uint32_t payload_at(const LaneScan& job, int i, int l) {
    const std::uint32_t element = job.keys[i * L + l];
    return kPacked ? element & job.packing.payload_mask : job.payload[(element >> job.packing.row_shift) & (kLaneRows - 1)];
}

template <int L>
typename Lanes<L>::Word payload_of(const LaneScan& job, typename Lanes<L>::Word element) {
    if (job.packing.payload_mask) return element & job.packing.payload_mask;
    typename Lanes<L>::Word out;
    for (int l = 0; l < L; ++l) out[l] = job.payload[(element[l] >> job.packing.row_shift) & (kLaneRows - 1)];
    return out;
}

// What lies left of the cut, by class, for L columns at once. With total T, class totals T_k and
// d_k = T l_k - n T_k the Gini decrease is sum_k d_k^2 / (n (T - n)) up to a constant factor. The d_k are exact:
// in single precision while T^2 fits its 24 bits, in 32-bit integers above that (kMaxLaneWeight sees to it). So
// nothing cancels. They add up to 0, so the last class need not be counted.
template <int L, int K, bool kLight>
struct LeftCounts {
    using Word = typename Lanes<L>::Word;
    using Int = typename Lanes<L>::Int;
    using Single = typename Lanes<L>::Single;
    using Number = std::conditional_t<kLight, Single, Int>;
    using Scalar = std::conditional_t<kLight, float, int>;
    const LaneScan& job;
    const Scalar total;
    Scalar class_total[K - 1];
    Number weight{};
    Number counts[K - 1]{};

    explicit LeftCounts(const LaneScan& scan) : job(scan), total(static_cast<Scalar>(scan.total)) {
        for (int k = 0; k < K - 1; ++k) class_total[k] = static_cast<Scalar>(job.class_total[k]);
    }
    void add(Word element) {
        const Word payload = payload_of<L>(job, element);
        const Number w = __builtin_convertvector((Int)(payload >> 8), Number);
        const Word c = payload & 255U;
        weight += w;
        for (int k = 0; k < K - 1; ++k) counts[k] += (Number)((Int)w & (Int)(c == static_cast<std::uint32_t>(k)));
    }
    Single rough() const {
        Single squares{}, sum{};
        for (int k = 0; k < K - 1; ++k) {
            const Single d = __builtin_convertvector(counts[k] * total - weight * class_total[k], Single);
            squares += d * d;
            sum += d;
        }
        if (K == 2) squares += squares;
        else squares += sum * sum;
        return squares * reciprocal(__builtin_convertvector(weight * (total - weight), Single));
    }
};

// One cut, counted again and scored as everywhere else.
template <int L, int K>
double exact_score(const LaneScan& job, int column, int place, double& weight) {
    // Counts of four classes in one word: kMaxLaneWeight fits 16 bits.
    std::uint64_t low = 0, high = 0;
    for (int i = 0; i <= place; ++i) {
        const std::uint32_t element = job.keys[i * L + column];
        const std::uint32_t payload = job.packing.payload_mask
                                          ? element & job.packing.payload_mask
                                          : job.payload[(element >> job.packing.row_shift) & (kLaneRows - 1)];
        const std::uint64_t w = payload >> 8;
        if (K <= 4 || (payload & 255U) < 4)
            low += w << (16 * (payload & 3U));
        else
            high += w << (16 * (payload & 3U));
    }
    double left[K];
    weight = 0;
    for (int k = 0; k < K; ++k) {
        left[k] = static_cast<double>(((k < 4 ? low : high) >> (16 * (k % 4))) & 0xFFFFU);
        weight += left[k];
    }
    if (K == 2) return moment_score(weight, left[1], job.total, job.total_moment);
    double left_squares = 0, right_squares = 0;
    for (int k = 0; k < K; ++k) {
        const double right = job.class_total[k] - left[k];
        left_squares += left[k] * left[k];
        right_squares += right * right;
    }
    return gini_score(left_squares, right_squares, weight, job.total - weight);
}

// Integer weights. All cuts are scored in single precision first; that mostly shows that none beats what is
// known already. Otherwise the few that come near the best are scored exactly.
template <int L, int K, bool kLight>
void scan_weighed(LaneScan& job) {
    using Word = typename Lanes<L>::Word;
    using Int = typename Lanes<L>::Int;
    using Single = typename Lanes<L>::Single;
    const auto* keys = reinterpret_cast<const Word*>(job.keys);
    const int shift = job.packing.shift, first = job.min_rows - 1, last = job.n - job.min_rows;
    const Single never = Single{} - __builtin_inff();
    Single rough[kLaneRows];
    job.column = -1;

    LeftCounts<L, K, kLight> left(job);
    for (int i = 0; i < first; ++i) left.add(keys[i]);
    Single most = never;
    Word rank = keys[first] >> shift;
    for (int i = first; i < last; ++i) {
        const Word following = keys[i + 1] >> shift;
        left.add(keys[i]);
        rough[i] = rank != following ? left.rough() : never;
        most = rough[i] > most ? rough[i] : most;
        rank = following;
    }

    // From an exact score to what the rough one may fall short of: its unit, less its rounding.
    auto lowered = [&](double score) {
        if (K > 2) {
            double squares = 0;
            for (int k = 0; k < K; ++k) squares += job.class_total[k] * job.class_total[k];
            score = (score - squares / job.total) * job.total;
        } else {
            score *= 2;
        }
        return static_cast<float>(score - 4e-6 * __builtin_fabs(score) - 1e-6);
    };
    float reach = -__builtin_inff();
    for (int l = 0; l < job.columns; ++l) reach = most[l] > reach ? most[l] : reach;
    float needed = lowered(job.score);
    if (reach == -__builtin_inff() || reach < needed) return;
    // Scores are never negative; places that are no cut at all are at minus infinity and must not pass.
    if (needed < 0) needed = 0;
    // With a least weight on each side the best cut of all may not be allowed, and says nothing.
    if (!(job.min_weight > 0) && reach - 8e-6F * reach - 1e-6F > needed) needed = reach - 8e-6F * reach - 1e-6F;
    BestCut best{job};
    for (int i = first; i < last; ++i) {
        unsigned near = set_lanes((Int)(rough[i] >= needed)) & ((1U << job.columns) - 1);
        for (; __builtin_expect(near != 0, 0); near &= near - 1) {
            const int l = __builtin_ctz(near);
            double weight;
            const double score = exact_score<L, K>(job, l, i, weight);
            best.offer(l, i, weight, score);
        }
    }
}

template <int L, int K>
void scan_integer(LaneScan& job) {
    if (job.total <= 4096)
        scan_weighed<L, K, true>(job);
    else
        scan_weighed<L, K, false>(job);
}

template <int L>
void scan_two_classes(LaneScan& job) {
    scan_integer<L, 2>(job);
}

// Many classes: adding a row to the left changes the sum of squared counts, and the sum of counts times class totals, by
// what its own class adds. So a row costs the same however many classes there are; lanes are counted in turn, which hides
// the latency of each, and scored together. Both sums fit 32 bits, as the square of the weight does.
template <int L, bool kPacked>
void scan_many(LaneScan& job) {
    using Word = typename Lanes<L>::Word;
    using Int = typename Lanes<L>::Int;
    using Single = typename Lanes<L>::Single;
    alignas(64) std::int32_t squares[kLaneRows * L], products[kLaneRows * L];
    alignas(64) std::int32_t left_of[256 * L], total_of[256];
    const auto* keys = reinterpret_cast<const Word*>(job.keys);
    const int shift = job.packing.shift, first = job.min_rows - 1, last = job.n - job.min_rows;
    double whole = 0;
    for (int k = 0; k < job.classes; ++k) {
        total_of[k] = static_cast<std::int32_t>(job.class_total[k]);
        whole += job.class_total[k] * job.class_total[k];
    }
    std::memset(left_of, 0, sizeof(std::int32_t) * static_cast<std::size_t>(job.classes) * L);
    std::int32_t square[L]{}, product[L]{};
    for (int i = 0; i < last; ++i)
        for (int l = 0; l < L; ++l) {
            const std::uint32_t payload = payload_at<L, kPacked>(job, i, l), k = payload & 255U;
            const auto w = static_cast<std::int32_t>(payload >> 8);
            std::int32_t& left = left_of[k * L + static_cast<std::uint32_t>(l)];
            square[l] += w * (2 * left + w);
            product[l] += w * total_of[k];
            left += w;
            squares[i * L + l] = square[l];
            products[i * L + l] = product[l];
        }

    Single rough[kLaneRows];
    const Single never = Single{} - __builtin_inff();
    const auto total = static_cast<std::int32_t>(job.total);
    const auto both = static_cast<std::int32_t>(whole);
    auto squared = [&](int i) { return reinterpret_cast<const Int*>(squares)[i]; };
    auto right_squared = [&](int i) { return both - 2 * reinterpret_cast<const Int*>(products)[i] + squared(i); };
    Int weight{};
    for (int i = 0; i < first; ++i) weight += (Int)(payload_of<L>(job, keys[i]) >> 8);
    Single most = never;
    Word rank = keys[first] >> shift;
    for (int i = first; i < last; ++i) {
        const Word following = keys[i + 1] >> shift;
        weight += (Int)(payload_of<L>(job, keys[i]) >> 8);
        const Single l = __builtin_convertvector(weight, Single), r = __builtin_convertvector(total - weight, Single);
        const Single score = (__builtin_convertvector(squared(i), Single) * r + __builtin_convertvector(right_squared(i), Single) * l) *
                             reciprocal(l * r);
        rough[i] = rank != following ? score : never;
        most = rough[i] > most ? rough[i] : most;
        rank = following;
    }
    // A rough score is off by rounding in six places.
    auto lowered = [](double score) { return static_cast<float>(score - 2e-6 * __builtin_fabs(score)); };
    float reach = -__builtin_inff();
    for (int l = 0; l < job.columns; ++l) reach = most[l] > reach ? most[l] : reach;
    float needed = lowered(job.score);
    if (reach == -__builtin_inff() || reach < needed) return;
    if (needed < 0) needed = 0;
    if (!(job.min_weight > 0) && lowered(lowered(reach)) > needed) needed = lowered(lowered(reach));
    BestCut best{job};
    std::uint32_t candidates = (1U << job.columns) - 1;
    for (int i = first; i < last; ++i) {
        unsigned near = set_lanes((Int)(rough[i] >= needed)) & candidates;
        for (; __builtin_expect(near != 0, 0); near &= near - 1) {
            const int l = __builtin_ctz(near);
            double left = 0;
            for (int j = 0; j <= i; ++j) left += static_cast<double>(payload_at<L, kPacked>(job, j, l) >> 8);
            best.offer(l, i, left, gini_score(squared(i)[l], right_squared(i)[l], left, job.total - left));
        }
    }
}

template <int L>
void scan_classes(LaneScan& job) {
    job.column = -1;
    switch (job.classes) {
        case 3: return scan_integer<L, 3>(job);
        case 4: return scan_integer<L, 4>(job);
        case 5: return scan_integer<L, 5>(job);
        case 6: return scan_integer<L, 6>(job);
        case 7: return scan_integer<L, 7>(job);
        case 8: return scan_integer<L, 8>(job);
        default: return job.packing.payload_mask ? scan_many<L, true>(job) : scan_many<L, false>(job);
    }
}

// Real weights: doubles throughout, four lanes after four.
template <int L>
void scan_moments(LaneScan& job) {
    typedef double Real __attribute__((vector_size(32)));
    typedef std::int64_t Long __attribute__((vector_size(32)));
    const int shift = job.packing.shift, row_shift = job.packing.row_shift, last = job.n - job.min_rows;
    BestCut best{job};
    job.column = -1;
    for (int first = 0; first < job.columns; first += 4) {
        const std::uint32_t* keys = job.keys + first;
        auto element = [&](int i, int l) { return keys[i * L + l]; };
        auto row = [&](int i, int l) { return (element(i, l) >> row_shift) & (kLaneRows - 1); };
        Real weight{}, moment{};
        for (int i = 0; i < last; ++i) {
            weight += Real{job.weight[row(i, 0)], job.weight[row(i, 1)], job.weight[row(i, 2)], job.weight[row(i, 3)]};
            moment += Real{job.moment[row(i, 0)], job.moment[row(i, 1)], job.moment[row(i, 2)], job.moment[row(i, 3)]};
            if (i + 1 < job.min_rows) continue;
            const Real d = moment * job.total - weight * job.total_moment;
            const Real score = d * d / (weight * (job.total - weight));
            const Long candidate = (Long)(score >= job.score);
            if (__builtin_expect(((candidate[0] | candidate[1]) | (candidate[2] | candidate[3])) != 0, 0)) {
                for (int l = 0; l < 4 && first + l < job.columns; ++l)
                    if (candidate[l] && element(i, l) >> shift != element(i + 1, l) >> shift)
                        best.offer(first + l, i, weight[l], score[l]);
            }
        }
    }
}

