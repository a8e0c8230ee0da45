/** Returns the environment in which a service reaches a server of the tests under these hosts. */
export function rerouted(hosts: readonly string[], url: string): Record<string, string> {
  const port = Number(new URL(url).port)
  return {
    NODE_OPTIONS: `--import=${new URL('reroute.ts', import.meta.url)}`,
    TEST_ROUTES: JSON.stringify(Object.fromEntries(hosts.map((host) => [host, port]))),
  }
}
