/** Tells whether an endpoint is up; undefined if it is not known. */
export type EndpointHealth = (network: string, url: string) => boolean | undefined

const LINE = /^rpc_endpoint_up\{(.*)\} ([01])$/

/** Reads the metric `rpc_endpoint_up`, in the text format of Prometheus. Its labels name the network and the host. */
export function readEndpointHealth(metrics: string): EndpointHealth {
  const known = new Map<string, boolean>()
  for (const line of metrics.split('\n')) {
    const [, labels = '', value] = LINE.exec(line) ?? []
    if (value !== undefined)
      known.set(`${labelOf(labels, 'network')} ${labelOf(labels, 'host')}`, value === '1')
  }
  return (network, url) => (URL.canParse(url) ? known.get(`${network} ${new URL(url).host}`) : undefined)
}

function labelOf(labels: string, name: string): string {
  return new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? ''
}
