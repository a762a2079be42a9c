// Predictions by codes, and subsets of members.
#include "both_kernels.hpp"

using namespace conjunto;

TEST(scan_subsets_lists_those_with_few_errors) {
    std::mt19937_64 random(10);
    for (int round = 0; round < 100; ++round) {
        SubsetScan scan{};
        std::vector<std::uint32_t> layers(1 + random() % 4);
        std::size_t width = 0;
        for (std::uint32_t& here : layers) width += here = static_cast<std::uint32_t>(1 + random() % 4);
        scan.entries = 1 + random() % 40;
        std::vector<ByteLanes> state(width), sums(width * scan.entries);
        // Sums of state and table stay within a byte; its extremes do occur.
        for (ByteLanes& vector : state)
            for (std::int8_t& byte : vector.lane) byte = static_cast<std::int8_t>(static_cast<int>(random() % 128) - 64);
        for (ByteLanes& vector : sums)
            for (std::int8_t& byte : vector.lane) byte = static_cast<std::int8_t>(static_cast<int>(random() % 128) - 64);
        scan.state = state.data();
        scan.sums = sums.data();
        scan.layers = layers.data();
        scan.blocks = layers.size();
        scan.first = random() % scan.entries;
        scan.end = scan.first + random() % (scan.entries - scan.first + 1);
        scan.limit = static_cast<std::uint32_t>(random() % (32 * layers.size()));
        std::vector<std::uint32_t> entries, counts;
        for (std::size_t entry = scan.first; entry < scan.end; ++entry) {
            std::uint32_t wrong = 0;
            std::size_t first = 0;
            for (const std::uint32_t here : layers) {
                for (std::size_t lane = 0; lane < 32; ++lane) {
                    bool negative = false;
                    for (std::size_t l = 0; l < here; ++l)
                        negative |= state[first + l].lane[lane] + sums[first * scan.entries + entry * here + l].lane[lane] < 0;
                    wrong += negative;
                }
                first += here;
            }
            if (wrong > scan.limit) continue;
            entries.push_back(static_cast<std::uint32_t>(entry));
            counts.push_back(wrong);
        }
        for (const Kernels* kernels : both()) {
            const std::size_t room = scan.end - scan.first;
            std::vector<std::uint32_t> entry(room + 1, kCanary), wrong(room + 1, kCanary);
            scan.entry = entry.data();
            scan.wrong = wrong.data();
            CHECK(kernels->scan_subsets(scan) == entries.size());
            CHECK(std::equal(entries.begin(), entries.end(), entry.begin()));
            CHECK(std::equal(counts.begin(), counts.end(), wrong.begin()));
            CHECK(entry[room] == kCanary && wrong[room] == kCanary);
        }
    }
}

TEST(evaluate_walks_the_tree) {
    std::mt19937_64 random(9);
    for (const std::size_t n_nodes : {0, 1, 2, 10, 200}) {
        const std::size_t features = 5;
        // A random tree: every new node takes the place of a leaf.
        std::vector<CodedNode> nodes(n_nodes);
        std::vector<std::uint32_t*> open;
        for (std::size_t i = 0; i < n_nodes; ++i) {
            nodes[i].code = static_cast<std::uint16_t>(random() % 4 ? random() % 65535 : random() % 3);
            nodes[i].feature = static_cast<std::uint32_t>(random() % features);
            if (i > 0) {
                std::swap(open[random() % open.size()], open.back());
                *open.back() = static_cast<std::uint32_t>(i);
                open.pop_back();
            }
            open.push_back(&nodes[i].left);
            open.push_back(&nodes[i].right);
        }
        for (std::size_t leaf = 0; leaf < open.size(); ++leaf) *open[leaf] = static_cast<std::uint32_t>(n_nodes + leaf);
        struct alignas(64) Block {
            std::array<std::uint16_t, kBlockRows> data;
        };
        std::vector<Block> codes(features), start(2 * n_nodes + 1);
        for (Block& block : codes)
            for (std::uint16_t& code : block.data) code = static_cast<std::uint16_t>(random() >> (random() % 60));
        for (std::size_t leaf = n_nodes; leaf <= 2 * n_nodes; ++leaf)
            start[leaf].data.fill(static_cast<std::uint16_t>(random()));
        for (const Kernels* kernels : both()) {
            std::vector<Block> results = start;
            kernels->evaluate(nodes.data(), n_nodes, codes[0].data.data(), results[0].data.data());
            for (std::size_t row = 0; row < kBlockRows; ++row) {
                std::size_t at = 0;
                while (at < n_nodes)
                    at = codes[nodes[at].feature].data[row] > nodes[at].code ? nodes[at].right : nodes[at].left;
                CHECK(results[0].data[row] == start[at].data[row]);
            }
        }
    }
}

TEST(count_counts_labels) {
    std::mt19937_64 random(10);
    struct alignas(64) Block {
        std::array<std::uint16_t, kBlockRows> data{};
    };
    for (const std::size_t classes : {1, 2, 7, 16})
        for (const Kernels* kernels : both()) {
            std::vector<Block> counts(classes), expected(classes);
            for (int tree = 0; tree < 300; ++tree) {
                Block labels;
                for (std::size_t row = 0; row < kBlockRows; ++row) {
                    labels.data[row] = static_cast<std::uint16_t>(random() % classes);
                    ++expected[labels.data[row]].data[row];
                }
                kernels->count(labels.data.data(), classes, counts[0].data.data());
            }
            for (std::size_t k = 0; k < classes; ++k) CHECK(counts[k].data == expected[k].data);
        }
}
