#include "core/report/page.h"

#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/report/escape.h"

static const char style[] =
#include "gen/page.inc"
	;

/* Nothing is loaded or run, and of styles this one alone counts: it is named by
   its digest. Forms go nowhere, addresses have no other base. */
static void add_policy(struct buf *out)
{
	unsigned char sum[SHA256_BYTES];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, style, sizeof(style) - 1);
	sha256_end(&s, sum);
	buf_adds(out, "<meta http-equiv=\"Content-Security-Policy\" "
		      "content=\"default-src 'none'; base-uri 'none'; "
		      "form-action 'none'; img-src data:; media-src data:; "
		      "style-src 'sha256-");
	base64_encode(BASE64_STANDARD,
		      (struct str){(const char *)sum, sizeof(sum)}, out);
	buf_adds(out, "'\">\n");
}

void page_begin(struct str title, struct buf *out)
{
	buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		      "<meta charset=\"utf-8\">\n");
	add_policy(out);
	buf_adds(out, "<meta name=\"viewport\" "
		      "content=\"width=device-width, initial-scale=1\">\n"
		      "<meta name=\"referrer\" content=\"no-referrer\">\n"
		      "<meta name=\"color-scheme\" content=\"light dark\">\n");
	escape_html(out, "<title>", title);
	buf_adds(out, "</title>\n<style>");
	buf_adds(out, style);
	buf_adds(out, "</style>\n</head>\n<body>\n");
}

void page_end(struct buf *out)
{
	buf_adds(out, "</body>\n</html>\n");
}
