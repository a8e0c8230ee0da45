import { isIP } from 'node:net'

/** Reads the text of a hosts file (hosts(5)): the addresses of each name, in lower case. */
export function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = withoutComment(line).split(/\s+/)
    if (isIP(address) === 0) continue
    for (const name of names.map((one) => one.toLowerCase()))
      hosts.set(name, [...(hosts.get(name) ?? []), address])
  }
  return hosts
}

function withoutComment(line: string): string {
  return line.replace(/#.*/, '').trim()
}
