/*
 * A program that answers sampling, with a real gate and a clock
 * that the test owns. The server is two pipes.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "core/base/fd.h"
#include "core/client/asks.h"
#include "core/transport/transport.h"

#define HELLO                                                            \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":" \
	"\"2025-11-25\",\"capabilities\":{}}}\n"
#define ASKS(text)                                                         \
	"{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":"                    \
	"\"sampling/createMessage\",\"params\":{\"maxTokens\":1,"          \
	"\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\"," \
	"\"text\":\"" text "\"}}]}}\n"
#define TAKEN_BACK                                                     \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"," \
	"\"params\":{\"requestId\":\"s\"}}\n"

static uint64_t test_now_ns;

static uint64_t now_ns(struct clock *c)
{
	(void)c;
	return test_now_ns;
}

static int64_t wall_ns(struct clock *c)
{
	(void)c;
	return 0;
}

static struct clock test_clock = {.now_ns = now_ns, .wall_ns = wall_ns};

struct world {
	struct loop loop;
	struct gate *gate;
	struct scrub *scrub;
	struct sampler *sampler;
	struct client *client;
	int says, hears; /* the server's ends of the two pipes */
	int ends[2];	 /* and ours */
	unsigned asked, gone;
};

static void on_event(void *arg, const struct client_event *e)
{
	struct buf says = BUF_INIT(BUF_UNBOUNDED);
	struct world *w = arg;

	if (e->type == CLIENT_ASKED) {
		w->asked++;
		assert_true(asks_answer(&(struct asks){.sampler = w->sampler},
					w->client, e, &says));
	} else if (e->type == CLIENT_ASK_GONE) {
		w->gone++;
		sampler_forget(w->sampler, e->of->ask);
	}
	buf_release(&says);
}

static void open_gate(struct world *w)
{
	const struct gate_config config = {.leash = {.fs_read.all = true,
						     .fs_write.all = true,
						     .exec.all = true,
						     .net.all = true,
						     .calls_unlimited = true,
						     .generations.all = true}};
	struct err err = ERR_INIT;

	assert_int_equal(gate_new(&config, &w->gate, &err), 0);
}

static void stays_open(void *arg, int which)
{
	(void)arg;
	(void)which;
}

static void says(struct world *w, const char *lines)
{
	assert_int_equal(fd_write_all(w->says, lines, strlen(lines)), 0);
}

static struct transport *open_pipes(struct world *w)
{
	struct transport_stdio_options o = {.close = stays_open};

	assert_int_equal(fd_pipe(&o.in, &w->says), 0);
	assert_int_equal(fd_pipe(&w->hears, &o.out), 0);
	assert_int_equal(fcntl(o.in, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(fcntl(o.out, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(fcntl(w->hears, F_SETFL, O_NONBLOCK), 0);
	w->ends[0] = o.in;
	w->ends[1] = o.out;
	return transport_stdio(&o);
}

static void begin(struct world *w, const char *const *words, size_t n)
{
	static const struct gate_policy policy;
	struct client_options o = {.name = "t",
				   .session = {.protocol = "2025-11-25",
					       .declared = {.sampling = true}},
				   .on_event = on_event,
				   .arg = w};
	struct sampler_options s = {.name = "t",
				    .words = {(const char **)words, n - 1},
				    .cwd = "/",
				    .policy = &policy};
	struct client_context context = {.loop = &w->loop};
	struct err err = ERR_INIT;

	*w = (struct world){.scrub = scrub_new()};
	assert_true(scrub_add(w->scrub, STR("sesame-1")));
	test_now_ns = NS_PER_S;
	assert_int_equal(loop_init(&w->loop, &test_clock, &err), 0);
	open_gate(w);
	s.loop = &w->loop;
	s.gate = w->gate;
	s.scrub = w->scrub;
	w->sampler = sampler_new(&s);
	w->client = client_new_over(&context, &o, open_pipes(w));
	assert_int_equal(client_start(w->client, &err), 0);
	says(w, HELLO ASKS("open sesame-1"));
	while (!w->asked)
		assert_int_equal(loop_turn(&w->loop, &err), 0);
}

static void end(struct world *w)
{
	client_free(w->client);
	sampler_free(w->sampler);
	loop_release(&w->loop);
	gate_free(w->gate);
	scrub_free(w->scrub);
	close(w->says);
	close(w->hears);
	close(w->ends[0]);
	close(w->ends[1]);
}

/* A process of ours that has not been waited for. */
static bool has_child(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) ==
	       0;
}

/* Until the program has ended, and what the server then has got. */
static void heard(struct world *w, const char *part)
{
	struct err err = ERR_INIT;
	char text[4096];
	ssize_t n;

	while (has_child())
		assert_int_equal(loop_turn(&w->loop, &err), 0);
	n = read(w->hears, text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = '\0';
	if (!strstr(text, part))
		fail_msg("%s", text);
}

TEST(answer, after_its_time, is_a_refusal)
{
	static const char *const words[] = {"/bin/sleep", "1000", NULL};
	struct world w;

	begin(&w, words, 3);
	assert_true(has_child());
	test_now_ns += SAMPLER_TIMEOUT_MS * NS_PER_MS;
	heard(&w, "\"id\":\"s\",\"error\":{\"code\":-1,");
	end(&w);
}

TEST(question, taken_back, ends_the_program)
{
	static const char *const words[] = {"/bin/sleep", "1000", NULL};
	struct err err = ERR_INIT;
	struct world w;

	begin(&w, words, 3);
	says(&w, TAKEN_BACK);
	while (!w.gone)
		assert_int_equal(loop_turn(&w.loop, &err), 0);
	assert_false(has_child());
	end(&w);
}

/* What the program is told, it says: seen, or the stars instead. */
#define SEES                                                                 \
	"read -r x; case $x in *sesame-1*) r=seen;; *\\*\\*\\**) r=stars;; " \
	"*) r=neither;; esac; printf '{\"role\":\"assistant\",\"model\":"    \
	"\"m\",\"content\":{\"type\":\"text\",\"text\":\"%s\"}}' $r"

TEST(params, with_a_secret, are_scrubbed)
{
	static const char *const words[] = {"/bin/sh", "-c", SEES, NULL};
	struct world w;

	begin(&w, words, 4);
	heard(&w, "\"text\":\"stars\"");
	end(&w);
}
