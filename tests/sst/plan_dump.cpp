// Prints what every rank does in one iteration, for the tests: PATTERN RANKS ITERATION [name=value ...].

#include <cstdio>
#include <iostream>
#include <map>
#include <string>

#include "arrivals.hpp"
#include "exchange.hpp"
#include "ping_pong.hpp"
#include "plan.hpp"
#include "record.hpp"

int main(int argc, char** argv)
{
    using namespace pready;
    try {
        const std::string pattern = argv[1];
        const std::int32_t ranks = std::stoi(argv[2]);
        const Count iteration = std::stoull(argv[3]);
        std::map<std::string, std::string> given;
        for (int i = 4; i < argc; ++i) {
            const std::string word = argv[i];
            const std::size_t equals = word.find('=');
            given[word.substr(0, equals)] = word.substr(equals + 1);
        }
        const Settings s = Settings::read([&](const std::string& name) {
            const auto found = given.find(name);
            return found == given.end() ? std::nullopt : std::optional(found->second);
        });
        if (pattern == "settings") {  // every parameter as it was read
            Settings(s).visit([](const char* name, const auto& value) { std::cout << name << '=' << value << '\n'; });
            return 0;
        }
        if (pattern == "record") {  // the CSV's lines, through the writer that the motifs use
            Record r;
            r.start = 1000;
            r.completion = 5000;
            r.end = 6000;
            r.arrivals = {4000, 5000};
            append_record(s.record, 1, 2, line(1, 0, 0, r));
            append_record(s.record, 0, 2, line(0, 0, 0, r));
            append_record(s.record, 0, 2, line(0, 1, 0, r));
            return 0;
        }
        for (std::int32_t rank = 0; rank < ranks; ++rank) {
            const auto phases = pattern == "pingpong" ? pingpong(s, rank, ranks) : exchange(s, rank, ranks);
            for (std::size_t p = 0; p < phases.size(); ++p) {
                std::vector<double> ready = built_in(s);
                if (!s.arrivals.empty())
                    ready = Arrivals(s.arrivals, static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(ranks),
                        s.user_partitions())(iteration * phases[p].draws + phases[p].draw);
                const Plan made = plan(s, phases[p], ready, iteration);
                std::printf("phase %d %zu %d %d %.17g %.17g %.17g\n", rank, p, phases[p].computes, phases[p].receives_first,
                    made.ready, made.join, made.meet);
                for (const Message& m : made.receives)
                    std::printf("recv %d %zu %d %u %u\n", rank, p, m.rank, m.tag, m.bytes);
                for (const Step& step : made.steps)
                    for (const Message& m : step.sends)
                        std::printf("send %d %zu %.17g %d %u %u\n", rank, p, step.at, m.rank, m.tag, m.bytes);
            }
        }
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
