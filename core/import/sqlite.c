/*
 * The registry of modulex, a database, to a tree: the one door to libsqlite3,
 * which is loaded on first use. The bytes are read, no file is opened: a
 * database that is only looked at gets no files beside it.
 */
#include <sqlite3.h>

#include "core/base/dl.h"
#include "core/import/tree.h"

#define LIBRARY "libsqlite3.so.0"
/* Steps of the library's machine; each row of a table takes some ten. */
#define STEPS_MAX 10000000

#define SQLITE_FUNCTIONS(X)         \
	X(sqlite3_open)             \
	X(sqlite3_close)            \
	X(sqlite3_deserialize)      \
	X(sqlite3_progress_handler) \
	X(sqlite3_prepare_v2)       \
	X(sqlite3_step)             \
	X(sqlite3_finalize)         \
	X(sqlite3_column_count)     \
	X(sqlite3_column_name)      \
	X(sqlite3_column_text)      \
	X(sqlite3_column_bytes)     \
	X(sqlite3_errmsg)

static struct {
	SQLITE_FUNCTIONS(DL_MEMBER)
} lib;

static int stop(void *arg)
{
	(void)arg;
	return 1;
}

/* Add a row by the names of its columns; NULL is no member. A damaged database
   may have any bytes for a text. */
static int add_row(sqlite3_stmt *row, struct arena *arena,
		   struct toml_value *rows, struct err *err)
{
	struct toml_value v = {.type = TOML_TABLE};

	for (int i = 0; i < lib.sqlite3_column_count(row); i++) {
		const char *text =
			(const char *)lib.sqlite3_column_text(row, i);
		const char *name = lib.sqlite3_column_name(row, i);
		struct toml_value value = {.type = TOML_STRING};

		if (!text)
			continue;
		value.string = arena_str(
			arena,
			(struct str){text,
				     (size_t)lib.sqlite3_column_bytes(row, i)});
		if (!str_is_utf8(value.string) || !str_is_utf8(str_of(name)))
			return err_set(err, ERR_CONFIG,
				       "the database: row %zu, column %d is "
				       "not UTF-8",
				       rows->array.n + 1, i + 1);
		(void)tree_add(&v, name, value, arena);
	}
	tree_append(rows, v, arena);
	return 0;
}

static int read_rows(sqlite3 *db, struct arena *arena, struct toml_value *ret,
		     struct err *err)
{
	struct toml_value rows = {.type = TOML_ARRAY};
	sqlite3_stmt *row = NULL;
	int r = lib.sqlite3_prepare_v2(db, "SELECT * FROM mcp_servers", -1,
				       &row, NULL);

	while (r == SQLITE_OK || r == SQLITE_ROW) {
		r = lib.sqlite3_step(row);
		if (r == SQLITE_ROW && add_row(row, arena, &rows, err) < 0)
			break;
	}
	if (r != SQLITE_DONE && r != SQLITE_ROW)
		err_set(err, ERR_CONFIG, "the database: %s",
			lib.sqlite3_errmsg(db));
	(void)lib.sqlite3_finalize(row);
	*ret = (struct toml_value){.type = TOML_TABLE};
	(void)tree_add(ret, "mcp_servers", rows, arena);
	return r == SQLITE_DONE ? 0 : -1;
}

int tree_read_sqlite(struct str text, struct arena *arena,
		     struct toml_value *ret, struct err *err)
{
	static const char *const names[] = {SQLITE_FUNCTIONS(DL_NAME)};
	static struct dl dl = DL(LIBRARY, names, lib);
	AUTO(buf_wipe) struct buf copy = BUF_INIT(BUF_UNBOUNDED);
	sqlite3 *db = NULL;
	int r = -1;

	if (!dl_load(&dl))
		return err_set(err, ERR_UNKNOWN,
			       "a database needs " LIBRARY ", which is not "
			       "here; install it: apt-get install "
			       "libsqlite3-0");
	buf_add_str(&copy, text);
	/* bytes 18 and 19, 2 with a log of writes: none is beside these bytes
	   (SQLite, "Database File Format") */
	for (size_t i = 18; i < 20 && i < copy.n; i++)
		copy.p[i] = 1;
	if (lib.sqlite3_open(":memory:", &db) != SQLITE_OK ||
	    lib.sqlite3_deserialize(db, "main", (unsigned char *)copy.p,
				    (sqlite3_int64)copy.n,
				    (sqlite3_int64)copy.n,
				    SQLITE_DESERIALIZE_READONLY) != SQLITE_OK) {
		err_set(err, ERR_CONFIG, "the database: %s",
			lib.sqlite3_errmsg(db));
	} else {
		lib.sqlite3_progress_handler(db, STEPS_MAX, stop, NULL);
		r = read_rows(db, arena, ret, err);
	}
	(void)lib.sqlite3_close(db);
	return r;
}
