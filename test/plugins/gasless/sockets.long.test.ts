import { numberToHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { API_KEY } from '../../support/service.ts'
import { type Caller, mustOpen, mustRefuse } from '../../support/web-socket.ts'
import { forwardBy } from './sign.ts'
import { CHAIN_ID, countCall, type GaslessSite, startGaslessSite } from './site.ts'

let site: GaslessSite
let caller: Caller

beforeAll(async () => {
  site = await startGaslessSite()
  caller = await mustOpen(`${site.service.url}/gasless/ws`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  })
}, 60_000)
afterAll(async () => {
  caller?.ws.terminate()
  await site.stop()
})

async function sent() {
  const terms = { to: site.forwarders.openzeppelin.counter, data: countCall('increment') }
  const { to, data } = await forwardBy(site, 'openzeppelin', site.user(), terms)
  return site.send({ chainId: CHAIN_ID, to, data })
}

async function ask(method: string, ...params: unknown[]) {
  caller.ws.send(JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }))
  return JSON.parse(await caller.next())
}

test('a subscriber is told each status of a request once, up to the last one, after the id of the subscription', async () => {
  const id = await sent()
  const { result: subscription } = await ask('subscribe', {
    eventTypes: ['transaction.*'],
    transactionId: id,
  })
  expect(subscription).toMatch(/^0x/)
  const events: string[] = []
  while (events.at(-1) !== 'transaction.success') {
    const { method, params } = JSON.parse(await caller.next())
    expect([method, params.subscription, params.result.data.id]).toEqual(['subscription', subscription, id])
    events.push(params.result.event)
  }
  expect(new Set(events).size).toBe(events.length)
})

test('a request that is over is told at once, and one that was given up not at all', async () => {
  const id = await sent()
  const first = await ask('subscribe', { transactionId: id })
  expect(await ask('unsubscribe', first.result)).toMatchObject({ result: true })
  expect(await ask('unsubscribe', first.result)).toMatchObject({ result: false })
})

test.each([
  [['subscribe', {}], -32602, 'transactionId'],
  [['subscribe', { transactionId: '0x12' }], -32602, 'id: expected'],
  [['subscribe', { transactionId: numberToHex(1, { size: 32 }) }], 4208, 'no request has this id'],
  [['relayer_sendTransaction', {}], -32601, '/rpc'],
] as const)('%j is refused', async ([method, params], code, said) => {
  expect(await ask(method, params)).toMatchObject({
    id: 7,
    error: { code, message: expect.stringContaining(said) },
  })
})

test('what is no JSON is answered, and the socket stays open', async () => {
  caller.ws.send('{')
  expect(JSON.parse(await caller.next())).toMatchObject({ id: null, error: { code: -32600 } })
  caller.ws.send(JSON.stringify({ type: 'pong' }))
  caller.ws.send(JSON.stringify({ type: 'ping' }))
  expect(JSON.parse(await caller.next())).toEqual({ type: 'pong' })
})

test('a socket follows at most 20 requests', async () => {
  await site.anvil.rpc('evm_setAutomine', [false])
  const answers: { error?: { code: number } }[] = []
  for (let count = 0; count < 21; count += 1) {
    const id = await sent()
    const other = await mustOpen(`${site.service.url}/gasless/ws?apiKey=${API_KEY}`)
    other.ws.close()
    await other.ended
    caller.ws.send(
      JSON.stringify({ jsonrpc: '2.0', id: 8, method: 'subscribe', params: [{ transactionId: id }] }),
    )
    for (;;) {
      const message = JSON.parse(await caller.next())
      if (message.id !== 8) continue
      answers.push(message)
      break
    }
  }
  expect(answers.slice(0, 20).filter(({ error }) => error !== undefined)).toEqual([])
  expect(answers.at(-1)?.error?.code).toBe(4203)
  await site.anvil.rpc('evm_setAutomine', [true])
})

test('a stranger is not let in', async () => {
  expect((await mustRefuse(`${site.service.url}/gasless/ws`)).status).toBe(401)
})
