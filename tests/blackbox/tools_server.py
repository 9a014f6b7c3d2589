"""A server of the tools that a file lists, an object a line; a call says its name.

tools_server.py FILE [PER_PAGE]
"""
import json
import sys

tools = [json.loads(line) for line in open(sys.argv[1])]
per_page = int(sys.argv[2]) if len(sys.argv) > 2 else len(tools)
for line in sys.stdin:
    m = json.loads(line)
    if 'id' not in m:
        continue
    method, params = m['method'], m.get('params', {})
    if method == 'initialize':
        r = {'protocolVersion': params['protocolVersion'],
             'capabilities': {'tools': {}},
             'serverInfo': {'name': 'x', 'version': '1'}}
    elif method == 'tools/list':
        at = int(params.get('cursor', 0))
        r = {'tools': tools[at:at + per_page]}
        if at + per_page < len(tools):
            r['nextCursor'] = str(at + per_page)
    elif method == 'tools/call':
        r = {'content': [{'type': 'text', 'text': 'called ' + params['name']}]}
    else:
        print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'error':
                          {'code': -32601, 'message': 'no'}}), flush=True)
        continue
    print('{"jsonrpc":"2.0","id":%s,"result":%s}' %
          (json.dumps(m['id']), json.dumps(r)), flush=True)
