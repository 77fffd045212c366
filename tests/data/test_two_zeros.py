"""The two zeros of doubles are one person, also where an engine hashes what it writes: "0" and "-0"."""

import psycopg

from leastnoise.data import Contribution, CountUnits, KeyAxis, open_table


def test_a_person_with_both_zeros_counts_once_in_a_cell_on_postgres(postgres_address):
    with psycopg.connect(postgres_address) as connection:
        connection.execute("CREATE TABLE zeros (u DOUBLE PRECISION, k BIGINT)")
        connection.execute("INSERT INTO zeros VALUES ('0', 1), ('-0', 1), ('0', 2), ('-0', 2)")
    axis = KeyAxis("k", (1, 2, 3, 4, 5))
    with open_table(postgres_address, table="zeros") as table:
        for groups in (1, 2, 3):
            for _ in range(8):  # each time with a fresh secret
                counts = table.aggregate(Contribution("u", groups), (axis,), (CountUnits(),))[0]
                assert counts.max() == 1
                assert counts.sum() == min(groups, 2)
