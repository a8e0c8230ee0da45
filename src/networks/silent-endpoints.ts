import type { RpcUrl } from './network.ts'

/** Tells a caller that the chain of some urls could not be checked. Silence is no reason to refuse them (I6). */
export function silentEndpoints(field: string, rpcUrls: readonly RpcUrl[]): string {
  // Endpoints of weight 0 are never asked.
  const hosts = [...new Set(rpcUrls.flatMap(({ url, weight }) => (weight > 0 ? [new URL(url).host] : [])))]
  const asked = hosts.length === 1 ? `${hosts[0]} did not answer` : `none of ${hosts.join(', ')} answered`
  return `${field}: ${asked} in time, so the chain behind is not known yet; the service uses the urls and goes on checking.`
}
