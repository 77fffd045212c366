"""A nearly smallest cut of a friendship graph; who is in the club is public, who is whose friend is not."""

import networkx

import leastnoise as ln


def weight(club: networkx.Graph, side: frozenset[int]) -> int:
    """How many friendships the cut separates; private, shown here because the club is a textbook's."""
    return sum(1 for _ in networkx.edge_boundary(club, side))


def main() -> None:
    """Plan, release, compare with the truth."""
    club = networkx.karate_club_graph()
    for epsilon in (1, 4, 16):
        plan = ln.combinatorial.plan_min_cut(club.nodes, epsilon)
        cut = ln.combinatorial.min_cut(club, epsilon)
        print(
            f"ε = {epsilon}: {plan.mechanism.name}, at most {float(plan.expected_extra):.1f} edges too many is expected"
        )
        smaller = sorted(min(cut.value, frozenset(club.nodes) - cut.value, key=len))
        print(
            f"  cuts off {smaller}: {weight(club, cut.value)} edges; no mechanism below {float(plan.lower_bound):.2f}"
        )
    print("the smallest cut of all has", networkx.edge_connectivity(club), "edge")

    cover = ln.combinatorial.decode(ln.combinatorial.vertex_cover(club, epsilon=4).value, club)
    print(f"a vertex cover read off a private order: {len(cover)} of {len(club)} members")


if __name__ == "__main__":
    main()
