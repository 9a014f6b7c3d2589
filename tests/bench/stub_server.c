/*
 * The smallest MCP server: what a step costs when the server costs nothing.
 *
 * Answers initialize, ping, tools/list and tools/call on stdio, one message
 * per line, until standard input ends. Knows of JSON only what two clients
 * that write compact messages need.
 *
 *	stub_server [BYTES]    size of the text in a tool's result (default 64)
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char line[1 << 20];

static bool put_all(const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(1, bytes, n);

		if (done <= 0)
			return false;
		bytes += done;
		n -= (size_t)done;
	}
	return true;
}

/* The raw id of a message, or NULL for a notification. */
static const char *find_id(char *message, int *ret_len)
{
	char *id = strstr(message, "\"id\":");

	if (!id)
		return NULL;
	id += 5;
	*ret_len = (int)strcspn(id, ",}");
	return id;
}

static void reply(const char *id, int id_len, const char *result)
{
	char buf[1024];
	int n = snprintf(buf, sizeof(buf),
			 "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":%s}\n",
			 id_len, id, result);

	put_all(buf, (size_t)n);
}

static void reply_text(const char *id, int id_len, size_t text_bytes)
{
	static const char tail[] = "\"}]}}\n";
	char *buf = malloc(text_bytes + 256);
	size_t n;

	if (!buf)
		exit(1);
	n = (size_t)snprintf(buf, 256,
			     "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":"
			     "{\"content\":[{\"type\":\"text\",\"text\":\"",
			     id_len, id);
	memset(buf + n, 'x', text_bytes);
	n += text_bytes;
	memcpy(buf + n, tail, sizeof(tail) - 1);
	put_all(buf, n + sizeof(tail) - 1);
	free(buf);
}

static void initialize(char *message, const char *id, int id_len)
{
	char *version = strstr(message, "\"protocolVersion\":\"");
	char buf[256];

	version = version ? version + 19 : "2025-11-25\"";
	snprintf(buf, sizeof(buf),
		 "{\"protocolVersion\":\"%.*s\",\"capabilities\":"
		 "{\"tools\":{}},\"serverInfo\":{\"name\":\"stub\","
		 "\"version\":\"1\"}}",
		 (int)strcspn(version, "\""), version);
	reply(id, id_len, buf);
}

static void answer(char *message, size_t text_bytes)
{
	int id_len = 0;
	const char *id = find_id(message, &id_len);

	if (!id)
		return;
	if (strstr(message, "\"method\":\"initialize\""))
		initialize(message, id, id_len);
	else if (strstr(message, "\"method\":\"tools/call\""))
		reply_text(id, id_len, text_bytes);
	else if (strstr(message, "\"method\":\"tools/list\""))
		reply(id, id_len,
		      "{\"tools\":[{\"name\":\"echo\",\"inputSchema\":"
		      "{\"type\":\"object\"}}]}");
	else
		reply(id, id_len, "{}");
}

int main(int argc, char **argv)
{
	size_t text_bytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 64;
	size_t have = 0;
	ssize_t got;

	while ((got = read(0, line + have, sizeof(line) - 1 - have)) > 0) {
		char *start = line, *nl;

		have += (size_t)got;
		line[have] = '\0';
		while ((nl = strchr(start, '\n'))) {
			*nl = '\0';
			answer(start, text_bytes);
			start = nl + 1;
		}
		have -= (size_t)(start - line);
		memmove(line, start, have);
	}
	return 0;
}
