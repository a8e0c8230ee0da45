import {
  createGelatoEvmRelayerClient,
  createGelatoSmartAccountClient,
  toGelatoSmartAccount,
} from '@gelatocloud/gasless'
import { createPublicClient, defineChain, http, numberToHex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { API_KEY } from '../../support/service.ts'
import { startRecordingProxy } from './recording-proxy.ts'
import { batchBy, forwardBy } from './sign.ts'
import {
  CHAIN_ID,
  countCall,
  type GaslessSite,
  GENEROUS,
  networkOf,
  pluginEntry,
  startGaslessSite,
} from './site.ts'

/** The delegate that Gelato's package has built in. */
const GELATO_DELEGATION = '0x5aF42746a8Af42d8a4708dF238C53F1F71abF0E0'

let site: GaslessSite

beforeAll(async () => {
  site = await startGaslessSite({
    entries: (known) => [
      pluginEntry('gasless', {
        networks: [networkOf(known, { delegates: [{ address: GELATO_DELEGATION, kind: 'gelato' }] })],
        ...GENEROUS,
      }),
    ],
  })
  const code = await site.anvil.rpc<string>('eth_getCode', [site.delegates.gelato, 'latest'])
  await site.anvil.rpc('anvil_setCode', [GELATO_DELEGATION, code])
}, 60_000)
afterAll(() => site.stop())

const clientAt = (baseUrl = `${site.service.url}/gasless`, ws: object = { disable: true }) =>
  createGelatoEvmRelayerClient({ apiKey: API_KEY, baseUrl, ws } as never)

describe('the unmodified client of Gelato', () => {
  test('reads capabilities, fee data and a quote', async () => {
    const client = clientAt()
    expect(await client.getCapabilities()).toEqual({
      [CHAIN_ID]: { feeCollector: '0x0000000000000000000000000000000000000000', tokens: [] },
    })
    const token = '0x0000000000000000000000000000000000000000'
    expect(await client.getFeeData({ chainId: CHAIN_ID, token })).toMatchObject({
      chainId: CHAIN_ID,
      rate: 1,
    })
    expect(await client.getFeeQuote({ chainId: CHAIN_ID, gas: 100_000n, token })).toMatchObject({ fee: 0n })
  })

  test('sends the batches of a smart account, which begins to delegate with the first one', async () => {
    const owner = site.user()
    const chain = defineChain({
      id: CHAIN_ID,
      name: 'anvil',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [site.anvil.url] } },
    })
    const account = toGelatoSmartAccount({
      client: createPublicClient({ chain, transport: http() }) as never,
      owner,
    })
    const client = await createGelatoSmartAccountClient({
      account,
      apiKey: API_KEY,
      baseUrl: `${site.service.url}/gasless`,
      ws: { disable: true },
    } as never)
    const calls = [{ to: site.stranger, data: countCall('increment') }]
    const receipt = await client.sendTransactionSync({ calls } as never)
    expect(receipt.status).toBe('success')
    const id = await client.sendTransaction({ calls } as never)
    const relayer = clientAt()
    expect((await relayer.waitForReceipt({ id }, { usePolling: true })).status).toBe('success')
    expect(await relayer.getStatus({ id })).toMatchObject({ id, status: 200, chainId: CHAIN_ID })
    expect(await site.countOf(site.stranger, owner.address)).toBe(2n)
  })

  test('sends a request for a forwarder, and is told refusals by their codes', async () => {
    const client = clientAt()
    const user = site.user()
    const terms = { to: site.forwarders.openzeppelin.counter, data: countCall('increment') }
    const { to, data } = await forwardBy(site, 'openzeppelin', user, terms)
    const id = await client.sendTransaction({ chainId: CHAIN_ID, to, data })
    expect((await client.waitForReceipt({ id }, { usePolling: true })).status).toBe('success')
    const bad = await forwardBy(site, 'openzeppelin', user, { ...terms, data: countCall('fail') })
    await expect(client.sendTransaction({ chainId: CHAIN_ID, to, data: bad.data })).rejects.toMatchObject({
      name: 'SimulationFailedRpcError',
    })
    await expect(client.sendTransaction({ chainId: 1, to, data })).rejects.toMatchObject({
      name: 'UnsupportedChainRpcError',
    })
    await expect(client.getStatus({ id: numberToHex(1, { size: 32 }) })).rejects.toMatchObject({
      name: 'UnknownTransactionIdRpcError',
    })
  })

  test('follows a request by its WebSocket, and closes it', async () => {
    const client = clientAt(undefined, {})
    const terms = { to: site.forwarders.openzeppelin.counter, data: countCall('increment') }
    const { to, data } = await forwardBy(site, 'openzeppelin', site.user(), terms)
    const id = await client.sendTransaction({ chainId: CHAIN_ID, to, data })
    expect((await client.waitForReceipt({ id })).status).toBe('success')
    client.ws.disconnect()
  })

  test('repeats a send whose answer was lost, and gets the id of the one transaction', async () => {
    const proxy = await startRecordingProxy(site.service.url, { lose: 3 })
    const user = site.user()
    const { to, data, authorizationList } = await batchBy(
      site,
      'gelato',
      user,
      [{ to: site.stranger, data: countCall('increment') }],
      { delegate: GELATO_DELEGATION },
    )
    const client = clientAt(`${proxy.url}/gasless`)
    const [authorization] = authorizationList as [{ nonce: string; chainId: string; yParity: string }]
    const id = await client.sendTransaction({
      chainId: CHAIN_ID,
      to,
      data,
      authorizationList: [
        {
          ...authorization,
          chainId: CHAIN_ID,
          nonce: Number(authorization.nonce),
          yParity: Number(authorization.yParity),
        },
      ] as never,
    })
    const ids = proxy.requests.map(({ id }) => id)
    await proxy.stop()
    expect(new Set(ids).size).toBe(4)
    expect((await clientAt().waitForReceipt({ id }, { usePolling: true })).status).toBe('success')
    expect(await site.countOf(site.stranger, user.address)).toBe(1n)
    const found = await site.service.api<unknown[]>('GET', `/transactions?relayer_id=main&reference=${id}`)
    expect(found.body.data).toHaveLength(1)
  })
})
