import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../support/until.ts'
import { signForward } from './sign.ts'
import {
  countCall,
  type ForwarderName,
  type GaslessSite,
  GENEROUS,
  networkOf,
  pluginEntry,
  startGaslessSite,
} from './site.ts'

let site: GaslessSite

beforeAll(async () => {
  // Clients of Engine in browsers have no key.
  site = await startGaslessSite({
    entries: (known) => [
      pluginEntry('gasless', { networks: [networkOf(known)], ...GENEROUS }, { open_mount: true }),
    ],
  })
}, 60_000)
afterAll(() => site.stop())

interface EngineAnswer {
  readonly status: number
  readonly body: {
    readonly result?: Record<string, unknown>
    readonly details?: { readonly message: string }
  }
}

async function ask(method: string, path: string, body?: object): Promise<EngineAnswer> {
  const response = await fetch(`${site.service.url}/gasless${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body && {
      body: JSON.stringify(body, (_, value: unknown) =>
        typeof value === 'bigint' ? value.toString() : value,
      ),
    }),
  })
  return { status: response.status, body: (await response.json()) as EngineAnswer['body'] }
}

async function bodyFor(kind: ForwarderName, user = site.user(), data = countCall('increment')) {
  const { address, counter } = site.forwarders[kind]
  const { request, signature } = await signForward(site, kind, user, { to: counter, data })
  const { deadline, chainid, ...fields } = request
  const own = kind === 'openzeppelin' ? { deadline } : kind === 'thirdweb_chainless' ? { chainid } : {}
  return { type: 'forward', request: { ...fields, ...own }, signature, forwarderAddress: address }
}

describe('the routes of thirdweb Engine', () => {
  test.each<[ForwarderName]>([['thirdweb'], ['thirdweb_chainless'], ['minimal'], ['openzeppelin']])(
    'send a request for a forwarder of the kind %s, and tell its status',
    async (kind) => {
      const user = site.user()
      const body = await bodyFor(kind, user)
      const { status, body: sent } = await ask('POST', '/relayer/main', body)
      expect(status).toBe(200)
      const queueId = String(sent.result?.queueId)
      expect((await ask('POST', '/relayer/main', body)).body.result).toEqual({ queueId })
      const { result } = await until(
        async () => (await ask('GET', `/transaction/status/${queueId}`)).body,
        (seen) => seen.result?.status === 'mined',
      )
      expect(result).toMatchObject({
        queueId,
        chainId: '31337',
        transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      })
      expect(await site.countOf(site.forwarders[kind].counter, user.address)).toBe(1n)
    },
  )

  test('refuse other types, forwarders and relayers, and say why', async () => {
    const body = await bodyFor('thirdweb')
    const refused = async (path: string, changes: object) => {
      const { status, body: answer } = await ask('POST', path, { ...body, ...changes })
      return [status, answer.details?.message]
    }
    expect(await refused('/relayer/main', { type: 'permit' })).toEqual([
      400,
      expect.stringContaining('type: expected forward'),
    ])
    expect(await refused('/relayer/main', { forwarderAddress: site.stranger })).toEqual([
      400,
      expect.stringContaining('not a listed forwarder'),
    ])
    expect(await refused('/relayer/other', {})).toEqual([404, expect.stringContaining('No relayer')])
    expect(await refused('/relayer/main', { request: { ...body.request, gas: 'x' } })).toEqual([
      400,
      expect.stringContaining('request.gas'),
    ])
    expect(await refused('/relayer/main', { signature: '0x00' })).toEqual([
      400,
      expect.stringContaining('signature'),
    ])
    expect((await ask('GET', `/transaction/status/0x${'0'.repeat(64)}`)).status).toBe(404)
    expect((await ask('GET', '/nothing')).status).toBe(404)
  })

  test('tell a call that failed', async () => {
    const { body } = await ask(
      'POST',
      '/relayer/main',
      await bodyFor('thirdweb', site.user(), countCall('failInBlock')),
    )
    const queueId = String(body.result?.queueId)
    const { result } = await until(
      async () => {
        await site.anvil.rpc('evm_mine')
        return (await ask('GET', `/transaction/status/${queueId}`)).body
      },
      (seen) => seen.result?.status === 'errored',
    )
    expect(result?.errorMessage).toMatch(/revert/i)
  })
})
