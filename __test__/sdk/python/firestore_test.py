"""google-cloud-firestore for Python against the suite that emulators:exec has started."""

import datetime
import threading
import time
import unittest

from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter, Or
from google.cloud.firestore_v1.vector import Vector


class FirestoreTest(unittest.TestCase):
    """Each test has a collection of its own in one database."""

    @classmethod
    def setUpClass(cls):
        # The address and the project come from the environment.
        cls.db = firestore.Client(credentials=AnonymousCredentials())

    @classmethod
    def tearDownClass(cls):
        cls.db.close()

    def setUp(self):
        self.collection = self.db.collection("python-" + self.id().rsplit(".", 1)[-1])

    def ids(self, query):
        return [document.id for document in query.stream()]

    def test_project(self):
        self.assertEqual(self.db.project, "demo-python")

    def test_every_type_comes_back_as_it_went(self):
        when = datetime.datetime(2023, 11, 14, 22, 13, 20, 123456, tzinfo=datetime.timezone.utc)
        data = {
            "nothing": None,
            "yes": True,
            "whole": 2**63 - 1,
            "half": 0.5,
            "infinite": float("-inf"),
            "text": "h\u00e9llo \U0001f600",
            "bytes": bytes([0, 255, 128]),
            "where": firestore.GeoPoint(-89.5, 179.25),
            "list": [1, "two", {"three": []}],
            "map": {"a.b": {"c": None}},
            "vector": Vector([1.0, -0.5, 0.0]),
            "reference": self.db.document("other/thing"),
            "when": when,
        }
        document = self.collection.document("all")
        written = document.set(data)
        read = document.get()
        self.assertTrue(read.exists)
        self.assertEqual(read.to_dict(), data)
        self.assertEqual(read.update_time, written.update_time)
        self.assertEqual(read.create_time, read.update_time)

    def test_create_read_update_delete(self):
        document = self.collection.document("one")
        self.assertFalse(document.get().exists)
        with self.assertRaises(exceptions.NotFound):
            document.update({"a": 1})
        document.create({"a": 1, "b": {"c": 2, "d": 3}})
        with self.assertRaises(exceptions.AlreadyExists):
            document.create({"a": 2})
        document.update({"b.c": 20, "e": firestore.SERVER_TIMESTAMP, "n": firestore.Increment(5)})
        updated = document.get()
        self.assertEqual(updated.get("b"), {"c": 20, "d": 3})
        self.assertEqual(updated.get("n"), 5)
        self.assertLess(updated.update_time - updated.get("e"), datetime.timedelta(seconds=1))
        document.set({"b": {"d": firestore.DELETE_FIELD}, "l": firestore.ArrayUnion([1, 2])}, merge=True)
        self.assertEqual(document.get(["b", "l"]).to_dict(), {"b": {"c": 20}, "l": [1, 2]})
        stale = self.db.write_option(last_update_time=updated.update_time)
        with self.assertRaises(exceptions.FailedPrecondition):
            document.update({"a": 3}, option=stale)
        document.delete()
        self.assertFalse(document.get().exists)

    def test_queries(self):
        rows = {
            "bern": {"country": "CH", "people": 134, "tags": ["old", "capital"]},
            "geneva": {"country": "CH", "people": 204, "tags": ["lake"]},
            "lyon": {"country": "FR", "people": 522, "tags": ["old"]},
            "paris": {"country": "FR", "people": 2103, "tags": ["capital"]},
        }
        batch = self.db.batch()
        for name, row in rows.items():
            batch.set(self.collection.document(name), row)
        self.assertEqual(len(batch.commit()), 4)

        def check(query, expected):
            self.assertEqual(self.ids(query), expected)

        where = lambda field, op, value: self.collection.where(filter=FieldFilter(field, op, value))
        check(self.collection, ["bern", "geneva", "lyon", "paris"])
        check(where("country", "==", "CH"), ["bern", "geneva"])
        check(where("people", ">", 150).order_by("people", direction=firestore.Query.DESCENDING), ["paris", "lyon", "geneva"])
        check(where("country", "in", ["FR", "IT"]), ["lyon", "paris"])
        check(where("country", "not-in", ["FR"]), ["bern", "geneva"])
        check(where("tags", "array_contains", "capital"), ["bern", "paris"])
        check(where("tags", "array_contains_any", ["lake", "old"]), ["bern", "geneva", "lyon"])
        either = Or([FieldFilter("people", "<", 150), FieldFilter("people", ">", 2000)])
        check(self.collection.where(filter=either), ["bern", "paris"])
        check(self.collection.order_by("people").limit(2).offset(1), ["geneva", "lyon"])
        check(self.collection.order_by("people").start_after({"people": 204}).end_before({"people": 2103}), ["lyon"])
        projected = next(where("country", "==", "FR").select(["people"]).stream())
        self.assertEqual(projected.to_dict(), {"people": 522})
        with self.assertRaises(exceptions.InvalidArgument):
            list(where("people", "in", list(range(31))).stream())
        self.collection.document("bern").collection("python-deep").document("x").set({"n": 1})
        check(self.db.collection_group("python-deep"), ["x"])
        self.assertEqual([each.id for each in self.collection.document("bern").collections()], ["python-deep"])

    def test_aggregations(self):
        for n in [1, 2, 3.5]:
            self.collection.add({"n": n})
        query = self.collection.count(alias="all").sum("n", alias="total").avg("n", alias="mean")
        values = {result.alias: result.value for result in query.get()[0]}
        self.assertEqual(values, {"all": 3, "total": 6.5, "mean": 6.5 / 3})

    def test_a_batch_is_all_or_nothing(self):
        self.collection.document("there").set({"n": 1})
        batch = self.db.batch()
        batch.set(self.collection.document("new"), {"n": 2})
        batch.create(self.collection.document("there"), {"n": 3})
        with self.assertRaises(exceptions.AlreadyExists):
            batch.commit()
        self.assertEqual(self.ids(self.collection), ["there"])
        found = {each.id: each.exists for each in self.db.get_all([self.collection.document("new"), self.collection.document("there")])}
        self.assertEqual(found, {"new": False, "there": True})

    def test_transactions(self):
        document = self.collection.document("counter")
        document.set({"n": 1})

        @firestore.transactional
        def increment(transaction):
            n = document.get(transaction=transaction).get("n") + 1
            transaction.update(document, {"n": n})
            return n

        self.assertEqual(increment(self.db.transaction()), 2)
        self.assertEqual(document.get().get("n"), 2)

        @firestore.transactional
        def broken(transaction):
            document.get(transaction=transaction)
            transaction.update(document, {"n": 100})
            raise ValueError("changed my mind")

        with self.assertRaises(ValueError):
            broken(self.db.transaction())
        self.assertEqual(document.get().get("n"), 2)

    def test_contended_transactions_all_count(self):
        document = self.collection.document("contended")
        document.set({"n": 0})

        @firestore.transactional
        def increment(transaction):
            transaction.update(document, {"n": document.get(transaction=transaction).get("n") + 1})

        failures = []

        def run():
            try:
                increment(self.db.transaction(max_attempts=50))
            except Exception as error:  # Any failure is one to report, whatever its class.
                failures.append(error)

        threads = [threading.Thread(target=run) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(failures, [])
        self.assertEqual(document.get().get("n"), 10)

    def test_a_listener_hears_changes(self):
        heard = []
        news = threading.Condition()

        def hear(documents, changes, read_time):
            with news:
                heard.extend(f"{change.type.name} {change.document.id}" for change in changes)
                news.notify_all()

        def until(count):
            deadline = time.monotonic() + 20
            with news:
                while len(heard) < count:
                    self.assertTrue(news.wait(deadline - time.monotonic()), heard)

        self.collection.document("a").set({"n": 1})
        watch = self.collection.on_snapshot(hear)
        until(1)
        self.collection.document("b").set({"n": 2})
        until(2)
        self.collection.document("a").delete()
        until(3)
        watch.unsubscribe()
        self.assertEqual(heard, ["ADDED a", "ADDED b", "REMOVED a"])


if __name__ == "__main__":
    unittest.main()
