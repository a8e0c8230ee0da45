import { expect, onTestFinished, test } from 'vitest'
import { startNameServer } from '../../support/name-server.ts'
import { answerWith, startRpcServer } from '../../support/rpc-server.ts'
import { startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const HOSTS = Array.from({ length: 6 }, (_, index) => `hook-${index}.silent.example`)

/** A service whose name server never answers for the hosts of its webhooks, and an endpoint of the operator that has a name. */
async function start() {
  const names = await startNameServer(() => 'silent')
  const results = { eth_chainId: '0x7a69', eth_blockNumber: '0x1', eth_getBalance: '0x1' }
  // A new connection for each request needs a look-up of the name each time.
  const endpoint = await startRpcServer((calls) => ({
    ...(answerWith(results)(calls) as { body: unknown }),
    headers: { connection: 'close' },
  }))
  const service = await startService({
    rpcUrls: [endpoint.url.replace('127.0.0.1', 'localhost')],
    nameServers: [names.address],
  })
  onTestFinished(async () => {
    await service.stop()
    await endpoint.stop()
    await names.stop()
  })
  return { ...service, names }
}

test('webhooks whose names get no answer delay no call to an endpoint', async () => {
  const { api, names } = await start()
  for (const host of HOSTS) await api('POST', '/notifications', { id: host, url: `http://${host}/` })
  const events = HOSTS.flatMap((host) => [host, host, host, host])
  await Promise.all(events.map((host) => api('POST', `/notifications/${host}/test`)))
  const isAsked = (host: string) => names.questions.some(({ name }) => name === host)
  await until(
    async () => HOSTS.every(isAsked),
    (all) => all,
  )
  for (let turn = 0; turn < 5; turn += 1) {
    const started = performance.now()
    const { status, body } = await api('POST', '/relayers/main/rpc', {
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_blockNumber',
    })
    expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining('"0x1"')])
    expect(performance.now() - started).toBeLessThan(2_000)
  }
}, 60_000)
