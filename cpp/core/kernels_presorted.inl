// Included by kernels_plain.cpp and kernels_avx2.cpp inside a namespace of their own: columns that were sorted beforehand.

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

