#include "app/rank/rank_program.h"
#include "base/version.h"

int main(int argc, char** argv) {
    return gs::rankMain(argc, argv, {std::string(gs::programVersion()), &gs::backends()});
}
