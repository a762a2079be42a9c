// Included by kernels_plain.cpp and kernels_avx2.cpp inside a namespace of their own.

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

typedef std::int8_t Bytes __attribute__((vector_size(32)));
std::uint32_t count_negative(const Bytes& bytes) {
    std::uint64_t words[4], sum = 0;
    std::memcpy(words, &bytes, sizeof words);
    for (const std::uint64_t word : words) sum += (word >> 7) & 0x0101010101010101U;
    return static_cast<std::uint32_t>(sum * 0x0101010101010101U >> 56);
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

template <int L>
void scan_classes(LaneScan& job) {
    switch (job.classes) {
        case 3: return scan_integer<L, 3>(job);
        case 4: return scan_integer<L, 4>(job);
        case 5: return scan_integer<L, 5>(job);
        case 6: return scan_integer<L, 6>(job);
        case 7: return scan_integer<L, 7>(job);
        default: return scan_integer<L, 8>(job);
    }
}

void scan_presorted(PresortedScan& job) {
    typedef double Real __attribute__((vector_size(32)));
    typedef std::int64_t Long __attribute__((vector_size(32)));
    constexpr std::uint32_t kRow = PresortedScan::kApart - 1;
    const double* const weights = job.weight;
    const double* const moments = job.moment;
    double needed = job.needed;
    for (int l = 0; l < 4; ++l) job.score[l] = -std::numeric_limits<double>::infinity();
    Real weight{}, moment{};
    for (std::size_t i = 0; i < job.end; ++i) {
        const std::uint32_t a = job.keys[0][i], b = job.keys[1][i], c = job.keys[2][i], d = job.keys[3][i];
        weight += Real{weights[a & kRow], weights[b & kRow], weights[c & kRow], weights[d & kRow]};
        moment += Real{moments[a & kRow], moments[b & kRow], moments[c & kRow], moments[d & kRow]};
        const Real away = moment * job.total - weight * job.total_moment;
        const Long reaches = (Long)(away * away >= needed * (weight * (job.total - weight)));
        if (__builtin_expect(((reaches[0] | reaches[1]) | (reaches[2] | reaches[3])) == 0, 1) || i < job.first) continue;
        const std::uint32_t key[4] = {a, b, c, d};
        for (int l = 0; l < 4; ++l) {
            if (!reaches[l] || !(key[l] & PresortedScan::kApart)) continue;
            if (weight[l] < job.lightest || weight[l] > job.heaviest) continue;
            const double score = moment_score(weight[l], moment[l], job.total, job.total_moment);
            if (!(score * (1 - PresortedScan::kTolerance) > job.score[l])) continue;
            job.score[l] = score;
            job.place[l] = i;
            const double bar = PresortedScan::bar(score);
            needed = bar > needed ? bar : needed;
        }
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

// Two classes, integer weights: the score behind each bin, and at the corners of what can be reached inside
// it (all of one class first). Behind empty bins the score repeats, and at the ends it is 0 / 0, which
// compares as worse than anything.
BinOutlook scan_bins(const std::int32_t* counts, double total, double ones) {
    typedef std::int32_t Int __attribute__((vector_size(16)));
    typedef double Real __attribute__((vector_size(32)));
    typedef std::int64_t Long __attribute__((vector_size(32)));
    constexpr int bins = 256;
    alignas(32) std::int32_t weight[bins + 4], one[bins + 4], first[bins], second[bins];
    std::int32_t w = 0, s = 0;
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
    weight[bins] = w;
    one[bins] = s;
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
        const Real edge = score(load(weight + bin + 1), load(one + bin + 1));
        const Long better = (Long)(edge > best);
        best = better ? edge : best;
        place = better ? here : place;
        const Real zeros_first = score(left + c0, moment), ones_first = score(left + c1, moment + c1);
        const Long mixed = (Long)(c0 > 0);
        reach = (mixed & (Long)(zeros_first > reach)) ? zeros_first : reach;
        reach = (mixed & (Long)(ones_first > reach)) ? ones_first : reach;
        here += 4;
    }
    BinOutlook outlook{-__builtin_inf(), -__builtin_inf(), bins};
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
BinOutlook scan_moment_bins(const double* sums, double total, double moment, double min_weight) {
    typedef double Real __attribute__((vector_size(32)));
    typedef std::int64_t Long __attribute__((vector_size(32)));
    constexpr int bins = 256;
    alignas(32) double left[bins + 4], left_moment[bins + 4], spread[bins], size[bins], end[bins];
    double w = 0, m = 0;
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
    BinOutlook outlook{-__builtin_inf(), -__builtin_inf(), bins};
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

#ifndef CONJUNTO_INTRINSICS
void divide(std::uint32_t* words, std::size_t n, const std::uint8_t* side, std::uint32_t* spare) {
    std::size_t left = 0, right = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t word = words[i];
        words[left] = word;
        spare[right] = word;
        left += side[i];
        right += 1 - side[i];
    }
    std::memcpy(words + left, spare, right * sizeof *words);
}

void select(const std::uint32_t* sorted, std::size_t n, const std::uint32_t* payload, std::uint32_t* list) {
    for (std::size_t i = 0, at = 0; i < n; ++i) {
        const std::uint32_t here = payload[(sorted[i] >> kLists.row_shift) & (kLaneRows - 1)];
        list[at] = sorted[i] | here;
        at += here != 0;
    }
}

void interleave(const std::uint32_t* const* lists, int n, std::uint32_t* keys) {
    for (int i = 0; i < n; ++i)
        for (int l = 0; l < 8; ++l) keys[i * 8 + l] = lists[l][i];
}

void partition(std::uint32_t* lists, std::size_t count, std::size_t stride, int n, const std::uint32_t* side,
               std::uint32_t* spare) {
    for (std::uint32_t* list = lists; list != lists + count * stride; list += stride) {
        int left = 0, right = 0;
        for (int i = 0; i < n; ++i) {
            const std::uint32_t element = list[i];
            const std::uint32_t row = (element >> kLists.row_shift) & (kLaneRows - 1);
            const int goes_left = static_cast<int>((side[row / 32] >> (row % 32)) & 1U);
            list[left] = element;
            spare[right] = element;
            left += goes_left;
            right += 1 - goes_left;
        }
        std::memcpy(list + left, spare, static_cast<std::size_t>(right) * sizeof *list);
    }
}
#endif

// Children have higher numbers than their parent, so walking down the numbers folds the tree up to its
// root without a branch: each node's result is one of its children's.
void evaluate(const CodedNode* nodes, std::size_t n_nodes, const std::uint16_t* codes, std::uint16_t* results) {
    typedef std::uint16_t Half __attribute__((vector_size(32)));
    constexpr std::size_t parts = kBlockRows / 16;
    auto* out = reinterpret_cast<Half*>(results);
    const auto* in = reinterpret_cast<const Half*>(codes);
    for (std::size_t i = n_nodes; i-- > 0;) {
        const CodedNode node = nodes[i];
        const Half code = Half{} + node.code;
        const Half* x = in + node.feature * parts;
        const Half* left = out + node.left * parts;
        const Half* right = out + node.right * parts;
        for (std::size_t p = 0; p < parts; ++p) out[i * parts + p] = x[p] <= code ? left[p] : right[p];
    }
}

void count(const std::uint16_t* labels, std::size_t classes, std::uint16_t* counts) {
    typedef std::uint16_t Half __attribute__((vector_size(32)));
    constexpr std::size_t parts = kBlockRows / 16;
    const auto* in = reinterpret_cast<const Half*>(labels);
    auto* out = reinterpret_cast<Half*>(counts);
    for (std::size_t k = 0; k < classes; ++k)
        for (std::size_t p = 0; p < parts; ++p)
            out[k * parts + p] -= (Half)(in[p] == static_cast<std::uint16_t>(k));
}

std::size_t count_and(const std::uint64_t* a, const std::uint64_t* b, std::size_t words) {
    std::size_t bits = 0;
    for (std::size_t w = 0; w < words; ++w) bits += static_cast<std::size_t>(__builtin_popcountll(a[w] & b[w]));
    return bits;
}

std::size_t count_xor(const std::uint64_t* a, const std::uint64_t* b, std::size_t words) {
    std::size_t bits = 0;
    for (std::size_t w = 0; w < words; ++w) bits += static_cast<std::size_t>(__builtin_popcountll(a[w] ^ b[w]));
    return bits;
}

// One block of a scan, for the entries that are still in it; L = 0: any number of layers. Whether an entry stays is added
// up, not branched on: what comes next is as good as random.
template <int L, bool kFirst>
std::size_t scan_block(const SubsetScan& job, const ByteLanes* block, const ByteLanes* block_sums, std::size_t layers,
                       std::size_t n) {
    const std::size_t width = L ? L : layers;
    const auto* state = reinterpret_cast<const Bytes*>(block);
    const auto* sums = reinterpret_cast<const Bytes*>(block_sums);
    std::uint32_t* const entries = job.entry;
    std::uint32_t* const wrong = job.wrong;
    const std::uint32_t limit = job.limit, first = static_cast<std::uint32_t>(job.first);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t entry = kFirst ? first + static_cast<std::uint32_t>(i) : entries[i];
        const Bytes* sum = sums + entry * width;
        Bytes lowest = state[0] + sum[0];
        for (std::size_t l = 1; l < width; ++l) lowest |= state[l] + sum[l];
        const std::uint32_t count = (kFirst ? 0 : wrong[i]) + count_negative(lowest);
        entries[kept] = entry;
        wrong[kept] = count;
        kept += count <= limit;
    }
    return kept;
}

template <bool kFirst>
std::size_t scan_any_block(const SubsetScan& job, const ByteLanes* state, const ByteLanes* sums, std::size_t layers,
                           std::size_t n) {
    if (layers == 1) return scan_block<1, kFirst>(job, state, sums, layers, n);
    if (layers == 2) return scan_block<2, kFirst>(job, state, sums, layers, n);
    return scan_block<0, kFirst>(job, state, sums, layers, n);
}

std::size_t scan_subsets(const SubsetScan& job) {
    const ByteLanes* state = job.state;
    const ByteLanes* sums = job.sums;
    std::size_t n = scan_any_block<true>(job, state, sums, job.layers[0], job.end - job.first);
    for (std::size_t b = 1; b < job.blocks && n > 0; ++b) {
        state += job.layers[b - 1];
        sums += job.layers[b - 1] * job.entries;
        n = scan_any_block<false>(job, state, sums, job.layers[b], n);
    }
    return n;
}
