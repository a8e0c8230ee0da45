import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parseJson } from '../../../src/contract/exact-integers.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { answerWith, type RpcServer, startRpcServer } from '../../support/rpc-server.ts'
import {
  API_KEY,
  DEV_ADDRESSES,
  DEV_KEYS,
  plainSigner,
  type Service,
  startService,
} from '../../support/service.ts'
import { RECEIVER, startSolanaScenario, transfer } from '../../support/solana-scenario.ts'
import { startStellarScenario } from '../../support/stellar-scenario.ts'

describe('on EVM', () => {
  let anvil: Anvil
  let service: Service

  beforeAll(async () => {
    anvil = await startAnvil({})
    const relayer = { network: 'anvil', network_type: 'evm' }
    service = await startService({
      // No one listens on the first endpoint.
      rpcUrls: ['http://127.0.0.1:9', anvil.url],
      signers: [...DEV_KEYS, `0x${'05'.repeat(32)}`, `0x${'06'.repeat(32)}`].map((value, index) =>
        plainSigner(`key-${index}`, value),
      ),
      relayers: [
        { id: 'main', name: 'Main', signer_id: 'key-0', ...relayer },
        {
          id: 'broker',
          name: 'Broker',
          signer_id: 'key-1',
          policies: { allowed_rpc_methods: ['eth_sendRawTransaction'] },
          ...relayer,
        },
        {
          id: 'silent',
          name: 'Silent',
          signer_id: 'key-2',
          policies: { allowed_rpc_methods: [], min_balance: 0 },
          ...relayer,
        },
        { id: 'paused', name: 'Paused', signer_id: 'key-3', paused: true, ...relayer },
      ],
    })
  })
  afterAll(async () => {
    await service.stop()
    await anvil.stop()
  })

  interface Raw {
    readonly status: number
    readonly text: string
    readonly json: unknown
  }

  /** The bytes of the answer count, so they are kept. */
  async function ask(body: object | string, relayer = 'main', url = service.url): Promise<Raw> {
    const response = await fetch(`${url}/api/v1/relayers/${relayer}/rpc`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const text = await response.text()
    return { status: response.status, text, json: parseJson(text) }
  }

  const balanceOf = (address: string) => ({ method: 'eth_getBalance', params: [address, 'latest'] })

  describe('POST …/rpc', () => {
    test('a call is answered without the envelope, by the endpoint that works', async () => {
      const expected = await anvil.rpc('eth_getBalance', [DEV_ADDRESSES[0], 'latest'])
      const { status, json } = await ask({ jsonrpc: '2.0', id: 7, ...balanceOf(DEV_ADDRESSES[0]) })
      expect({ status, json }).toEqual({ status: 200, json: { jsonrpc: '2.0', id: 7, result: expected } })
    })

    test('a batch is answered in its order, each call for itself', async () => {
      const { json } = await ask([
        { id: 'b', ...balanceOf(DEV_ADDRESSES[1]) },
        { id: 'x', method: 'eth_sendTransaction', params: [{}] },
        { id: 'c', method: 'eth_chainId' },
      ])
      expect(json).toEqual([
        { jsonrpc: '2.0', id: 'b', result: expect.stringMatching(/^0x/) },
        { jsonrpc: '2.0', id: 'x', error: expect.objectContaining({ code: -32601 }) },
        { jsonrpc: '2.0', id: 'c', result: '0x7a69' },
      ])
    })

    test.each(['1', '0', '-1', '"text"', '""', 'null', '9007199254740993', '1.5'])(
      'the id %s comes back as it was sent',
      async (id) => {
        const { status, text } = await ask(`{"jsonrpc":"2.0","id":${id},"method":"eth_chainId"}`)
        expect({ status, text }).toEqual({
          status: 200,
          text: `{"jsonrpc":"2.0","id":${id},"result":"0x7a69"}`,
        })
      },
    )

    test.each(['[1]', '{"a":1}', 'true', 'false', '[]'])(
      'the id %s is refused, and its field is named',
      async (id) => {
        const call = `{"jsonrpc":"2.0","id":${id},"method":"eth_chainId"}`
        for (const [body, field] of [
          [call, 'body.id'],
          [`[{"method":"eth_chainId"},${call}]`, 'body[1].id'],
        ] as const) {
          const { status, json } = await ask(body)
          expect([status, json]).toEqual([
            400,
            expect.objectContaining({
              error: `${field}: expected a string, a number or null.`,
              code: 'invalid_request',
            }),
          ])
        }
      },
    )

    test('without an id it is 1', async () => {
      expect((await ask({ method: 'eth_chainId' })).json).toMatchObject({ id: 1 })
    })

    test('an error of the node is an answer', async () => {
      const { status, json } = await ask({ id: 1, method: 'eth_getBalance', params: ['nobody'] })
      expect({ status, json }).toMatchObject({
        status: 200,
        json: { id: 1, error: { code: expect.any(Number), message: expect.any(String) } },
      })
    })

    test.each([
      'eth_sendRawTransaction',
      'eth_sendTransaction',
      'eth_sign',
      'eth_accounts',
      'personal_sign',
      'debug_traceTransaction',
      'admin_addPeer',
      'anvil_setBalance',
      'evm_mine',
      'eth_newFilter',
      'ETH_CALL',
      'constructor',
    ])('%s is not passed on', async (method) => {
      const height = await anvil.rpc('eth_blockNumber')
      const { status, json } = await ask({ id: 1, method, params: [] })
      expect({ status, json }).toMatchObject({ status: 200, json: { error: { code: -32601 } } })
      expect(await anvil.rpc('eth_blockNumber')).toBe(height)
    })

    test('the policy decides which methods: exactly those that it names', async () => {
      const raw = { id: 1, method: 'eth_sendRawTransaction', params: ['0x00'] }
      expect((await ask(raw, 'broker')).json).not.toMatchObject({ error: { code: -32601 } })
      expect((await ask({ id: 1, method: 'eth_chainId' }, 'broker')).json).toMatchObject({
        error: { code: -32601 },
      })
      expect((await ask({ id: 1, method: 'eth_chainId' }, 'silent')).json).toMatchObject({
        error: { code: -32601 },
      })
      const { body } = await service.api<{ id: string; policies: object }[]>('GET', '/relayers')
      expect(body.data.find(({ id }) => id === 'broker')?.policies).toEqual({
        allowed_rpc_methods: ['eth_sendRawTransaction'],
      })
    })

    test.each<[string, object | string, string]>([
      ['no method', { id: 1 }, 'body.method'],
      ['a method that is a number', { method: 1 }, 'body.method'],
      ['an empty method', { method: '' }, 'body.method'],
      ['another version', { jsonrpc: '1.0', method: 'eth_chainId' }, 'body.jsonrpc'],
      ['params that are text', { method: 'eth_call', params: 'x' }, 'body.params'],
      ['an empty batch', [], 'body'],
      ['a batch with something else', [{ method: 'eth_chainId' }, 1], 'body[1]'],
      ['more than fifty', Array(51).fill({ method: 'eth_chainId' }), 'body'],
      ['text', '"eth_chainId"', 'body'],
      ['a number that nothing holds', '{"method":"eth_call","params":[1e999]}', 'body'],
    ])('%s is a 400 in the envelope that names the field', async (_name, body, field) => {
      const { status, json } = await ask(body)
      expect({ status, json }).toMatchObject({
        status: 400,
        json: { success: false, data: null, code: 'invalid_request', error: expect.stringContaining(field) },
      })
    })

    test('a paused relayer passes nothing on, an unknown one is Not found', async () => {
      const call = { method: 'eth_chainId' }
      expect(await ask(call, 'paused')).toMatchObject({ status: 400, json: { code: 'relayer_paused' } })
      expect(await ask(call, 'nobody')).toMatchObject({ status: 404, json: { code: 'relayer_not_found' } })
    })
  })

  describe('what goes through', () => {
    let node: RpcServer
    let other: Service

    beforeAll(async () => {
      const chain = answerWith({ eth_chainId: '0x7a69', eth_blockNumber: '0x1' })
      node = await startRpcServer((calls) => {
        if (calls[0]?.method !== 'eth_getLogs') return chain(calls)
        return { text: `{"jsonrpc":"2.0","id":${calls[0]?.id},"result":${RESULT}}` }
      })
      other = await startService({ rpcUrls: [node.url] })
    })
    afterAll(async () => {
      await other.stop()
      await node.stop()
    })

    const RESULT =
      '{"a":18446744073709551615,"b":[1.50,-0.0,1e400],"c":null,"d":"\\u00e9","e":9007199254740993}'

    test('numbers of the answer lose no digit and keep their spelling', async () => {
      const { text } = await ask({ id: 1, method: 'eth_getLogs', params: [] }, 'main', other.url)
      expect(text).toBe(`{"jsonrpc":"2.0","id":1,"result":${RESULT.replace('\\u00e9', 'é')}}`)
    })

    test('integers of the question lose no digit', async () => {
      await ask('{"id":1,"method":"eth_getLogs","params":[18446744073709551615]}', 'main', other.url)
      expect(node.bodies.some((text) => text.includes('"params":[18446744073709551615]'))).toBe(true)
    })
  })

  test('no endpoint at all is an error of its own', async () => {
    const alone = await startService({ rpcUrls: ['http://127.0.0.1:9'] })
    try {
      const { status, json } = await ask({ id: 5, method: 'eth_chainId' }, 'main', alone.url)
      expect({ status, json }).toMatchObject({ status: 200, json: { id: 5, error: { code: -33002 } } })
    } finally {
      await alone.stop()
    }
  })

  test('a Stellar relayer asks its ledger, and sends nothing by this way', async () => {
    const stellar = await startStellarScenario()
    try {
      const { json } = await ask(
        [
          { id: 1, method: 'getLatestLedger' },
          { id: 2, method: 'sendTransaction', params: { transaction: 'AAAA' } },
          { id: 3, method: 'eth_chainId' },
        ],
        'main',
        stellar.service.url,
      )
      expect(json).toMatchObject([
        { id: 1, result: { sequence: expect.any(Number) } },
        { id: 2, error: { code: -32601 } },
        { id: 3, error: { code: -32601 } },
      ])
    } finally {
      await stellar.stop()
    }
  })
})

describe('on Solana', () => {
  /** A context slot that no node has reached: agave answers -32016, which other chains' providers use for a rate limit. */
  const UNREACHABLE = [{ minContextSlot: 9_000_000_000_000_000 }]

  test('errors that a caller provokes do not take the endpoint away from others', async () => {
    const story = await startSolanaScenario()
    onTestFinished(story.stop)
    const call = async (method: string, params: unknown[]) => {
      const response = await fetch(`${story.service.url}/api/v1/relayers/main/rpc`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      return (await response.json()) as Schemas['RpcReply']
    }
    for (let times = 0; times < 8; times += 1)
      expect(await call('getSlot', UNREACHABLE)).toMatchObject({ error: { code: -32016 } })
    expect(await call('getBalance', [RECEIVER])).toMatchObject({ result: { value: 1_000_000_000 } })
    const { id } = await story.send(transfer(10n))
    await story.tickUntil(id, 'confirmed')
  })
})
