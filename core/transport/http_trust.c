/* The authorities that certificates are judged by. */
#include <dirent.h>

#include "core/base/fd.h"
#include "core/transport/http_inner.h"

/* A folder of authorities is of use when its files are named by hashes. */
static bool is_hashed(const char *folder)
{
	DIR *dir = folder ? opendir(folder) : NULL;
	const struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		found = strspn(entry->d_name, "0123456789abcdef") == 8 &&
			entry->d_name[8] == '.';
	if (dir)
		closedir(dir);
	return found;
}

int http_trust_load(struct http *h, const char *file, struct err *err)
{
	const curl_version_info_data *version = h->lib->version;

	if (is_hashed(version->capath))
		h->ca_folder = version->capath;
	if (!file)
		return 0;
	if (!h->ca_folder && version->cainfo) {
		if (fd_read_file(version->cainfo, &h->authorities, err) < 0)
			return -1;
		buf_addc(&h->authorities, '\n');
	}
	if (fd_read_file(file, &h->authorities, err) < 0)
		return -1;
	if (!memmem(buf_cstr(&h->authorities), h->authorities.n,
		    "-----BEGIN CERTIFICATE-----", 27))
		return err_set(err, ERR_SYNTAX, "%s: no certificate in PEM",
			       file);
	return 0;
}

bool http_trust_set(struct http_exchange *x)
{
	__typeof__(&curl_easy_setopt) set = x->h->lib->curl_easy_setopt;
	struct curl_blob blob = {
		.data = x->h->authorities.p,
		.len = x->h->authorities.n,
		.flags = CURL_BLOB_NOCOPY,
	};

	if (x->h->ca_folder &&
	    (set(x->easy, CURLOPT_CAINFO, NULL) != CURLE_OK ||
	     set(x->easy, CURLOPT_CAPATH, x->h->ca_folder) != CURLE_OK))
		return false;
	return !blob.len ||
	       set(x->easy, CURLOPT_CAINFO_BLOB, &blob) == CURLE_OK;
}
