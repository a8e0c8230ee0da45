import { createHash } from 'node:crypto'
import {
  Account,
  Address,
  Asset,
  authorizeEntry,
  Keypair,
  MuxedAccount,
  nativeToScVal,
  Operation,
  scValToNative,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type {
  ScValue,
  SorobanAuth,
  StellarOperation,
} from '../../../../src/chains/stellar/model/operation.ts'
import { startFaultyNode } from '../../../support/faulty-node.ts'
import {
  accountWith,
  addressOf,
  channelSigningContextAt,
  known,
  OTHER,
  PASSPHRASE,
  paymentOf,
  requestOf,
  SELF,
} from '../build.ts'
import { type Stage, setStage, XLM } from '../stage.ts'

describe('a contract call', () => {
  let stage: Stage

  beforeEach(async () => {
    stage = await setStage()
  })

  afterEach(() => stage.ledger.stop())

  function call(
    contract: string,
    name: string,
    args: readonly ScValue[] = [],
    auth?: SorobanAuth,
  ): StellarOperation {
    const operation = {
      type: 'invoke_contract',
      contract_address: contract,
      function_name: name,
      args,
    } as const
    return auth === undefined ? operation : { ...operation, auth }
  }

  const transfer = (amount: bigint, auth?: SorobanAuth) =>
    call(
      stage.ledger.nativeContract,
      'transfer',
      [{ address: SELF }, { address: OTHER }, { i128: String(amount) }],
      auth,
    )

  async function returned(hash: string, { chain } = stage): Promise<unknown> {
    const [answer] = await chain.receipts([hash])
    if (answer?.kind !== 'included') throw new Error('not included')
    expect(answer.receipt.failure).toBeUndefined()
    return scValToNative(xdr.ScVal.fromXdr(answer.receipt.result?.returnValueXdr ?? '', 'base64'))
  }

  describe('a call of a smart contract', () => {
    test('is simulated, authorised by the source, paid and included', async () => {
      const hash = await stage.run(requestOf({ operations: [transfer(5n * XLM)] }))
      expect(await stage.chain.receipts([hash])).toMatchObject([
        { kind: 'included', receipt: { success: true } },
      ])
      expect(stage.ledger.account(OTHER)?.balance).toBe(105n * XLM)
    })

    test('through a channel account acts in the name of the relayer', async () => {
      const channel = addressOf('channel')
      const opening = await stage.chain.channels.open([channel], accountWith())
      await stage.run(opening)
      const draft = await stage.prepare(requestOf({ operations: [transfer(XLM)] }))
      const before = stage.ledger.account(SELF)?.balance ?? 0n
      const signed = await stage.chain.sign(draft, channelSigningContextAt(await stage.nonce(channel)))
      expect(await stage.chain.broadcast([signed.raw])).toEqual([{ kind: 'accepted' }])
      stage.ledger.close()
      expect(await stage.chain.receipts([signed.hash])).toMatchObject([
        { kind: 'included', receipt: { success: true } },
      ])
      expect(before - (stage.ledger.account(SELF)?.balance ?? 0n)).toBeLessThanOrEqual(
        XLM + stage.chain.cost(draft),
      )
    })

    test('gives back what it returned, wide integers whole', async () => {
      const contract = stage.ledger.contract({ echo: (_, value) => value })
      const hash = await stage.run(
        requestOf({
          operations: [call(contract, 'echo', [{ i128: '-170141183460469231731687303715884105728' }])],
        }),
      )
      expect(await returned(hash)).toBe(-(2n ** 127n))
    })

    test('that would fail is refused with the reason, before anything is signed', async () => {
      const contract = stage.ledger.contract({ fail: (env) => env.trap('no luck today') })
      const answer = await stage.chain.prepare(
        requestOf({ operations: [call(contract, 'fail')] }),
        accountWith(),
      )
      expect(answer).toMatchObject({
        kind: 'refused',
        refusal: { code: 'execution_reverted', detail: expect.stringMatching(/^The simulation failed: /) },
      })
    })

    test('that others have to agree to is refused', async () => {
      const contract = stage.ledger.contract({ take: (env) => void env.requireAuth(OTHER) })
      const answer = await stage.chain.prepare(
        requestOf({ operations: [call(contract, 'take')] }),
        accountWith(),
      )
      expect(answer).toMatchObject({
        kind: 'refused',
        refusal: { detail: expect.stringMatching(/^operations\[0\]\.auth: /) },
      })
    })

    test('that needs an agreement is refused when none was asked for', async () => {
      const answer = await stage.chain.prepare(
        requestOf({ operations: [transfer(1n, { type: 'none' })] }),
        accountWith(),
      )
      expect(answer).toMatchObject({
        kind: 'refused',
        refusal: { detail: expect.stringMatching(/^operations\[0\]\.auth: /) },
      })
    })

    test('dearer than its budget is refused with what it needs', async () => {
      const answer = await stage.chain.prepare(
        requestOf({ operations: [transfer(1n)], maxFee: 1_000n }),
        accountWith(),
      )
      if (answer.kind !== 'refused') throw new Error(answer.kind)
      expect(answer.refusal.code).toBe('fee_above_cap')
      const needed = BigInt(/at least (\d+) stroops/.exec(answer.refusal.detail)?.[1] ?? 0)
      const again = await stage.chain.prepare(
        requestOf({ operations: [transfer(1n)], maxFee: needed }),
        accountWith(),
      )
      expect(again.kind).toBe('ok')
    })
  })

  describe('the agreement of a third party', () => {
    /** Returns the signed authorization entry that the node demands of the other account. */
    async function signedEntry(contract: string): Promise<string> {
      const operation = Operation.invokeContractFunction({ contract, function: 'take', args: [] })
      const tx = new TransactionBuilder(new Account(SELF, '0'), { fee: '100', networkPassphrase: PASSPHRASE })
        .addOperation(operation)
        .setTimeout(0)
        .build()
      const reply = await fetch(stage.ledger.url, {
        method: 'POST',
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'simulateTransaction',
          params: { transaction: tx.toXdr() },
        }),
      })
      const { result } = (await reply.json()) as { result: { results: { auth: string[] }[] } }
      const entry = xdr.SorobanAuthorizationEntry.fromXdr(result.results[0]?.auth[0] ?? '', 'base64')
      const key = Keypair.fromRawEd25519Seed(createHash('sha256').update('other').digest())
      const signed = await authorizeEntry(entry, key, 1_000, PASSPHRASE)
      return signed.toXdr('base64')
    }

    test('is taken as the caller gives it', async () => {
      const contract = stage.ledger.contract({ take: (env) => void env.requireAuth(OTHER) })
      const entries = [await signedEntry(contract)]
      const hash = await stage.run(
        requestOf({ operations: [call(contract, 'take', [], { type: 'xdr', entries })] }),
      )
      expect(await stage.chain.receipts([hash])).toMatchObject([
        { kind: 'included', receipt: { success: true } },
      ])
    })
  })

  test('a prebuilt call gets what the simulation finds', async () => {
    const contract = stage.ledger.contract({ take: (env) => void env.requireAuth(SELF) })
    const tx = new TransactionBuilder(new Account(SELF, '0'), { fee: '100', networkPassphrase: PASSPHRASE })
      .addOperation(Operation.invokeContractFunction({ contract, function: 'take', args: [] }))
      .setTimeout(0)
      .build()
    const hash = await stage.run(requestOf({ transactionXdr: tx.toXdr() }))
    expect(await stage.chain.receipts([hash])).toMatchObject([
      { kind: 'included', receipt: { success: true } },
    ])
  })

  describe('archived entries', () => {
    /** A contract that counts, and whose count was archived at 1. */
    async function archivedCounter(at: Stage) {
      const key = nativeToScVal('counter', { type: 'symbol' })
      const contract = at.ledger.contract({
        count: (env) => {
          const next = nativeToScVal(
            Number(scValToNative(env.get(key) ?? nativeToScVal(0, { type: 'u32' }))) + 1,
            { type: 'u32' },
          )
          env.set(key, next)
          return next
        },
      })
      const request = requestOf({ operations: [call(contract, 'count')] })
      expect(await returned(await at.run(request), at)).toBe(1)
      at.ledger.archive(
        xdr.LedgerKey.contractData(
          new xdr.LedgerKeyContractData({
            contract: Address.fromString(contract).toScAddress(),
            key,
            durability: xdr.ContractDataDurability.persistent,
          }),
        ),
      )
      at.ledger.close()
      return request
    }

    test('are brought back by the call itself, as the simulation says (CAP-66)', async () => {
      const request = await archivedCounter(stage)
      const draft = await stage.prepare(request)
      const { ext } = xdr.TransactionEnvelope.fromXdr(draft.envelope, 'base64').value.tx
      if (ext.type !== 'sorobanData' || ext.sorobanData.ext.type !== 'resourceExt')
        throw new Error('nothing is archived')
      expect(ext.sorobanData.ext.resourceExt.archivedSorobanEntries).toHaveLength(1)
      expect(await returned(await stage.run(request))).toBe(2)
    })

    test('are restored first, by a setup transaction, where a network is older than protocol 23', async () => {
      const old = await setStage({ protocolVersion: 22, restoresAutomatically: false })
      const request = await archivedCounter(old)
      const answer = await old.chain.prepare(request, accountWith())
      if (answer.kind !== 'setup') throw new Error(JSON.stringify(answer.kind))
      await old.run(answer.request)
      expect(await returned(await old.run(request), old)).toBe(2)
      await old.ledger.stop()
    })

    test('are not restored there for a user who pays for the call alone', async () => {
      const old = await setStage({ protocolVersion: 22, restoresAutomatically: false })
      const request = await archivedCounter(old)
      const payment = {
        quoteId: 'q',
        token: 'native',
        amount: 1n,
        payer: OTHER,
        receiver: SELF,
        fee: 1_000_000n,
      }
      const paid = { ...request, payment: { ...payment, validUntil: new Date() } }
      const answer = await old.chain.prepare(paid, accountWith())
      expect(answer).toMatchObject({ kind: 'refused', refusal: { code: 'execution_reverted' } })
      await old.ledger.stop()
    })
  })

  test('code is uploaded, and a contract made of it', async () => {
    const wasm = Buffer.concat([Buffer.from('0061736d01000000', 'hex'), Buffer.from('a test')])
    stage.ledger.program(wasm, { hello: () => nativeToScVal('hi', { type: 'symbol' }) })
    const hash = await stage.run(
      requestOf({ operations: [{ type: 'upload_wasm', wasm: { hex: wasm.toString('hex') } }] }),
    )
    const wasmHash = Buffer.from((await returned(hash)) as Uint8Array).toString('hex')
    const creation = await stage.run(
      requestOf({
        operations: [
          { type: 'create_contract', source: { from: 'address', address: SELF }, wasm_hash: wasmHash },
        ],
      }),
    )
    const contract = String(await returned(creation))
    expect(await returned(await stage.run(requestOf({ operations: [call(contract, 'hello')] })))).toBe('hi')
    expect(known(await stage.chain.balance(SELF))).toBeGreaterThan(0n)
  })
})

describe('a required memo', () => {
  let stage: Stage

  /** The relayer's own account asks for a memo. */
  beforeEach(async () => {
    stage = await setStage()
    await ask('1')
  })
  afterEach(() => stage.ledger.stop())

  async function ask(value: string): Promise<void> {
    const base64 = Buffer.from(value).toString('base64')
    await stage.run(
      requestOf({ operations: [{ type: 'manage_data', name: 'config.memo_required', value: base64 }] }),
    )
  }

  const REFUSED = {
    kind: 'refused',
    refusal: {
      code: 'invalid_request',
      detail: `memo: a memo is expected, because ${SELF} accepts payments only with one (config.memo_required, SEP-29).`,
    },
  }

  describe('a receiver that asks for a memo (SEP-29)', () => {
    test.each([
      ['a payment', paymentOf(1n, SELF)],
      [
        'a path payment',
        {
          type: 'path_payment_strict_send',
          send_asset: { type: 'native' },
          send_amount: 1n,
          destination: SELF,
          dest_asset: { type: 'native' },
          dest_min: 1n,
          path: [],
        },
      ],
      ['a merge', { type: 'account_merge', destination: SELF, source: OTHER }],
    ] as const)('refuses %s without one, whatever is before it', async (_name, operation) => {
      const request = requestOf({ operations: [paymentOf(1n), operation] })
      expect(await stage.chain.prepare(request, accountWith())).toMatchObject(REFUSED)
    })

    test('takes it with one, and to a muxed address', async () => {
      const operations = [paymentOf(1n, SELF)]
      await stage.prepare(requestOf({ operations, memo: { type: 'id', value: 7n } }))
      const muxed = new MuxedAccount(new Account(SELF, '0'), '7').accountId()
      await stage.prepare(requestOf({ operations: [paymentOf(1n, muxed)] }))
    })

    test('is looked for in a prebuilt transaction, too', async () => {
      const pay = Operation.payment({ destination: SELF, asset: Asset.native(), amount: '1' })
      const built = new TransactionBuilder(new Account(SELF, '0'), {
        fee: '100',
        networkPassphrase: PASSPHRASE,
      })
      const transactionXdr = built.addOperation(pay).setTimeout(0).build().toXdr()
      expect(await stage.chain.prepare(requestOf({ transactionXdr }), accountWith())).toMatchObject({
        refusal: { detail: expect.stringContaining('transaction_xdr: a memo is expected') },
      })
    })

    test('is one only with the value 1', async () => {
      await ask('0')
      await stage.prepare(requestOf({ operations: [paymentOf(1n, SELF)] }))
    })

    test('is unknown while no node tells it, and asked for once a minute', async () => {
      const node = await startFaultyNode(stage.ledger.url)
      onTestFinished(node.stop)
      const chain = stage.chainAt(node.url)
      const request = requestOf({ operations: [paymentOf(1n), paymentOf(2n)] })
      node.habits = {
        refuse: ({ method }) =>
          method === 'getLedgerEntries'
            ? { code: -32603, message: 'could not query captive core' }
            : undefined,
      }
      expect(await chain.prepare(request, accountWith())).toMatchObject({ kind: 'unknown' })
      node.habits = {}
      const before = node.calls.get('getLedgerEntries') ?? 0
      for (const _ of [1, 2])
        expect(await chain.prepare(request, accountWith())).toMatchObject({ kind: 'ok' })
      expect((node.calls.get('getLedgerEntries') ?? 0) - before).toBe(1)
      stage.clock.advance(60_001)
      await chain.prepare(request, accountWith())
      expect((node.calls.get('getLedgerEntries') ?? 0) - before).toBe(2)
    })
  })
})
