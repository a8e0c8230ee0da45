import { verify } from 'node:crypto'
import { address, getBase58Encoder } from '@solana/kit'
import {
  Account,
  Asset,
  type Keypair,
  Operation,
  type Transaction,
  TransactionBuilder,
} from '@stellar/stellar-sdk'
import { type Hex, keccak256, parseTransaction, recoverTransactionAddress, serializeTransaction } from 'viem'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  createWallet,
  type Step,
  signContent,
  transfer,
  type Wallet,
} from '../../../simulators/solana/wallet.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { createEd25519Signer } from '../../../src/signers/ed25519.ts'
import { AS_PAYER, SELF } from '../../chains/solana/build.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER, startService } from '../../support/service.ts'
import {
  SOL,
  RECEIVER as SOLANA_RECEIVER,
  type SolanaScenario,
  seedOf,
  startSolanaScenario,
} from '../../support/solana-scenario.ts'
import {
  keypairOf,
  MAIN,
  RECEIVER as STELLAR_RECEIVER,
  type StellarScenario,
  startStellarScenario,
  submitTo,
  XLM,
} from '../../support/stellar-scenario.ts'

describe('on EVM', () => {
  type Signed = Schemas['SignedEvmTransaction']

  const GWEI = 1_000_000_000
  const PATH = '/relayers/main/sign-transaction'

  let story: Scenario

  beforeAll(async () => {
    story = await startScenario({
      policies: { gas_price_cap: 100 * GWEI, whitelist_receivers: [RECEIVER.toLowerCase()] },
    })
  })
  afterAll(() => story.stop())

  const sign = (body: object, path = PATH) => story.service.api<Signed>('POST', path, body)

  const LEGACY = { to: RECEIVER, value: 5, nonce: 0, gas_limit: 21_000, gas_price: 20 * GWEI }
  const PRICED = {
    to: RECEIVER.toLowerCase(),
    value: '5',
    nonce: 1,
    gas_limit: '21000',
    max_fee_per_gas: 20 * GWEI,
    max_priority_fee_per_gas: GWEI,
  }

  /** As other tools serialize it. */
  const rlp = (change: object = {}): Hex =>
    serializeTransaction({
      type: 'eip1559',
      chainId: 31337,
      to: RECEIVER,
      value: 5n,
      nonce: 1,
      gas: 21_000n,
      maxFeePerGas: BigInt(20 * GWEI),
      maxPriorityFeePerGas: BigInt(GWEI),
      ...change,
    })

  const encoded = (change: object = {}) => ({ unsigned_transaction: rlp(change) })

  describe('POST …/sign-transaction', () => {
    test.each([
      ['a legacy price', LEGACY, 'legacy'],
      ['EIP-1559 prices', PRICED, 'eip1559'],
    ])('fields with %s become what they say, signed by the account', async (_name, body, type) => {
      const { status, body: answer } = await sign(body)
      expect({ status, error: answer.error }).toEqual({ status: 200, error: undefined })
      const raw = answer.data.signed_transaction as Hex
      const parsed = parseTransaction(raw)
      expect(parsed).toMatchObject({ type, chainId: 31337, value: 5n, gas: 21_000n })
      expect(parsed.nonce ?? 0).toBe(body.nonce)
      expect(answer.data.hash).toBe(keccak256(raw))
      expect(await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })).toBe(
        DEV_ADDRESSES[0],
      )
    })

    test('RLP and the fields of it give the same bytes', async () => {
      const [one, other] = [await sign(encoded()), await sign(PRICED)]
      expect(one.status).toBe(200)
      expect(one.body.data).toEqual(other.body.data)
    })

    test('a node takes the bytes, and the numbering of the service is untouched', async () => {
      const { body } = await sign({ ...LEGACY, nonce: 1, value: 6 })
      const sent = await story.send({ to: RECEIVER, value: 7 })
      const { nonce } = await story.reach(sent.id, 'submitted')
      expect(Number(nonce)).toBe(0)
      const { data } = body
      expect(await story.anvil.rpc('eth_sendRawTransaction', [data.signed_transaction])).toBe(data.hash)
      await story.settle()
      expect(await story.minedHash(DEV_ADDRESSES[0], 1)).toBe(data.hash)
    })

    test('stores nothing of it', async () => {
      const count = async () =>
        (await story.service.api('GET', '/relayers/main/transactions?per_page=0')).body.pagination
          ?.total_items
      const before = await count()
      await sign(PRICED)
      expect(await count()).toBe(before)
    })

    test.each<[string, object, string, string]>([
      ['a price above the cap', { ...LEGACY, gas_price: 101 * GWEI }, 'gas_price_above_cap', 'gas_price'],
      [
        'the same in RLP',
        encoded({ maxFeePerGas: BigInt(101 * GWEI) }),
        'gas_price_above_cap',
        'max_fee_per_gas',
      ],
      ['a stranger', { ...LEGACY, to: DEV_ADDRESSES[1] }, 'receiver_not_whitelisted', 'to'],
      ['the same in RLP', encoded({ to: DEV_ADDRESSES[1] }), 'receiver_not_whitelisted', 'to'],
      [
        'a creation',
        { ...LEGACY, to: null, data: '0x00', gas_limit: 100_000 },
        'receiver_not_whitelisted',
        'to',
      ],
      ['more than there is', { ...LEGACY, value: String(10n ** 30n) }, 'insufficient_balance', 'spend'],
      ['too little gas', { ...LEGACY, gas_limit: 11_999 }, 'gas_limit_too_low', 'gas_limit'],
      ['no price', { to: RECEIVER, value: 1, nonce: 0, gas_limit: 21_000 }, 'invalid_request', 'gas_price'],
      ['half a price', { ...PRICED, max_fee_per_gas: undefined }, 'invalid_request', 'max_fee_per_gas'],
      ['no nonce', { ...LEGACY, nonce: undefined }, 'invalid_request', 'body.nonce'],
      ['a nonce that no number holds', { ...LEGACY, nonce: '9007199254740993' }, 'invalid_request', 'nonce'],
      ['no gas', { ...LEGACY, gas_limit: undefined }, 'invalid_request', 'body.gas_limit'],
      ['a speed', { ...LEGACY, speed: 'fast' }, 'invalid_request', 'body.speed'],
      ['another chain', encoded({ chainId: 1 }), 'invalid_request', 'chain id'],
      [
        'no chain',
        encoded({
          type: 'legacy',
          chainId: undefined,
          gasPrice: 1n,
          maxFeePerGas: undefined,
          maxPriorityFeePerGas: undefined,
        }),
        'invalid_request',
        'chain id',
      ],
      [
        'an access list',
        encoded({ accessList: [{ address: RECEIVER, storageKeys: [] }] }),
        'not_supported',
        'access list',
      ],
      [
        'hexadecimal that is no RLP',
        { unsigned_transaction: '0xdeadbeef' },
        'invalid_request',
        'unsigned_transaction',
      ],
      ['half a byte', { unsigned_transaction: '0x0' }, 'invalid_request', 'body.unsigned_transaction'],
      ['no hexadecimal', { unsigned_transaction: 'xyz' }, 'invalid_request', 'body.unsigned_transaction'],
      [
        'bytes behind the end',
        { unsigned_transaction: `${rlp()}00` },
        'invalid_request',
        'unsigned_transaction',
      ],
      [
        'a Stellar envelope',
        { unsigned_xdr: 'AAAA' },
        'wrong_network_type',
        'unsigned_xdr is for networks of type stellar',
      ],
      [
        'a Solana transaction',
        { transaction: 'AQAAAA==' },
        'wrong_network_type',
        'The field transaction is for networks of type solana. Relayer main is on a network of type evm: send unsigned_transaction (0x and the RLP), or value with nonce, gas_limit and a price.',
      ],
      [
        'an EVM transaction in the field of Solana',
        { transaction: `${rlp()}0` },
        'invalid_request',
        'body.transaction: expected a Solana transaction, in base64',
      ],
      ['nothing', {}, 'invalid_request', 'body.'],
    ])('%s is refused and named', async (_name, body, code, words) => {
      const answer = await sign(body)
      expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 400, code })
      expect(answer.body.error).toContain(words)
    })

    test('a signed transaction is refused', async () => {
      const { body } = await sign(PRICED)
      const answer = await sign({ unsigned_transaction: body.data.signed_transaction })
      expect({ status: answer.status, code: answer.body.code }).toEqual({
        status: 400,
        code: 'invalid_request',
      })
      expect(answer.body.error).toContain('already signed')
    })

    test('an unknown relayer is Not found', async () => {
      expect((await sign(LEGACY, '/relayers/nobody/sign-transaction')).body.code).toBe('relayer_not_found')
    })
  })

  test('when no node can tell of the money, nothing is signed', async () => {
    const alone = await startService({ rpcUrls: ['http://127.0.0.1:9'] })
    try {
      const { status, body } = await alone.api('POST', PATH, LEGACY)
      expect({ status, code: body.code }).toEqual({ status: 500, code: 'network_unavailable' })
    } finally {
      await alone.stop()
    }
  })
})

describe('on Stellar', () => {
  type Signed = Schemas['SignedStellarTransaction']

  /** A channel that the caller has, not the service. */
  const CHANNEL = keypairOf('a channel of the caller')

  let story: StellarScenario

  beforeAll(async () => {
    story = await startStellarScenario({ relayer: { policies: { max_fee: 1_000 } } })
    story.ledger.fund(CHANNEL.publicKey(), 10n * XLM)
  })
  afterAll(() => story.stop())

  const sign = (unsigned_xdr: string) =>
    story.service.api<Signed>('POST', '/relayers/main/sign-transaction', { unsigned_xdr })

  interface Draft {
    readonly source?: Keypair
    readonly payer?: string
    readonly amount?: string
    readonly fee?: string
  }

  /** A payment of lumens to the receiver. */
  function draft({ source = MAIN, payer, amount = '1', fee = '100' }: Draft = {}): Transaction {
    const { sequence } = story.ledger.account(source.publicKey()) ?? { sequence: 0n }
    return new TransactionBuilder(new Account(source.publicKey(), String(sequence)), {
      fee,
      networkPassphrase: story.ledger.passphrase,
    })
      .addOperation(
        Operation.payment({
          destination: STELLAR_RECEIVER,
          asset: Asset.native(),
          amount,
          ...(payer === undefined ? {} : { source: payer }),
        }),
      )
      .setTimebounds(0, (story.ledger.ledgers.at(-1)?.closeTime ?? 0) + 300)
      .build()
  }

  const open = (xdr: string) => TransactionBuilder.fromXDR(xdr, story.ledger.passphrase) as Transaction

  describe('POST …/sign-transaction', () => {
    test('a transaction of the relayer is signed as it is, and the ledger takes it', async () => {
      const unsigned = draft()
      const { status, body } = await sign(unsigned.toXDR())
      expect(status).toBe(200)
      const signed = open(body.data.signedXdr)
      expect(Buffer.from(signed.hash())).toEqual(Buffer.from(unsigned.hash()))
      const signature = Buffer.from(body.data.signature, 'base64')
      expect(MAIN.verify(Buffer.from(unsigned.hash()), signature)).toBe(true)
      const before = story.ledger.account(STELLAR_RECEIVER)?.balance ?? 0n
      expect(await submitTo(story.ledger, body.data.signedXdr)).toBe('PENDING')
      story.ledger.close()
      expect(story.ledger.account(STELLAR_RECEIVER)?.balance).toBe(before + XLM)
    })

    test("a third party's channel, with the relayer as the source of the operation, keeps its signature", async () => {
      const unsigned = draft({ source: CHANNEL, payer: MAIN.publicKey() })
      unsigned.sign(CHANNEL)
      const { status, body } = await sign(unsigned.toXDR())
      expect(status).toBe(200)
      expect(open(body.data.signedXdr).signatures).toHaveLength(2)
      const before = story.ledger.account(MAIN.publicKey())?.balance ?? 0n
      expect(await submitTo(story.ledger, body.data.signedXdr)).toBe('PENDING')
      story.ledger.close()
      expect(story.ledger.account(MAIN.publicKey())?.balance).toBe(before - XLM)
    })

    test('leaves one signature when a transaction is signed twice', async () => {
      const first = await sign(draft().toXDR())
      const again = await sign(first.body.data.signedXdr)
      expect(again.body.data).toEqual(first.body.data)
    })

    test.each<[string, () => string, string, string]>([
      ['no envelope', () => 'AAAA', 'invalid_request', 'unsigned_xdr'],
      ['no base64', () => '###', 'invalid_request', 'body.unsigned_xdr'],
      [
        'a transaction that is none of the relayer',
        () => draft({ source: CHANNEL }).toXDR(),
        'invalid_request',
        'source',
      ],
      ['a fee above max_fee', () => draft({ fee: '1001' }).toXDR(), 'fee_above_cap', 'max_fee'],
      [
        'more than the account can spend',
        () => draft({ amount: '100000' }).toXDR(),
        'insufficient_balance',
        'spend',
      ],
      [
        "more than it can spend, by a third party's channel",
        () => draft({ source: CHANNEL, payer: MAIN.publicKey(), amount: '100000' }).toXDR(),
        'insufficient_balance',
        'spend',
      ],
      ['a fee bump', feeBump, 'not_supported', 'fee_bump'],
    ])('%s is refused and named', async (_name, xdr, code, words) => {
      const { status, body } = await sign(xdr())
      expect({ status, code: body.code }).toEqual({ status: 400, code })
      expect(body.error).toContain(words)
    })

    test('without a policy, a fee of up to the default of max_fee is signed, and no higher one', async () => {
      const { ledger, service, stop } = await startStellarScenario()
      onTestFinished(stop)
      ledger.fund(MAIN.publicKey(), 10n * XLM)
      const sign = (unsigned_xdr: string) =>
        service.api<Signed>('POST', '/relayers/main/sign-transaction', { unsigned_xdr })
      const refused = await sign(draft({ fee: '1000001' }).toXDR())
      expect({ status: refused.status, code: refused.body.code }).toEqual({
        status: 400,
        code: 'fee_above_cap',
      })
      expect(refused.body.error).toBe(
        "unsigned_xdr: its fee of 1000001 is above the relayer's max_fee of 1000000 stroops.",
      )
      expect((await sign(draft({ fee: '1000000' }).toXDR())).status).toBe(200)
    })

    test('the body of another network type is refused', async () => {
      const { status, body } = await story.service.api('POST', '/relayers/main/sign-transaction', {
        value: 1,
        nonce: 0,
        gas_limit: 21_000,
      })
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'wrong_network_type' })
    })
  })

  function feeBump(): string {
    const inner = draft({ source: CHANNEL })
    inner.sign(CHANNEL)
    return TransactionBuilder.buildFeeBumpTransaction(MAIN, '200', inner, story.ledger.passphrase).toXDR()
  }
})

describe('on Solana', () => {
  type Signed = Schemas['SignedSolanaTransaction']

  const SIGNATURE_BYTES = 64

  let story: SolanaScenario
  const friend = createWallet()

  beforeAll(async () => {
    story = await startSolanaScenario({
      policies: { disallowed_accounts: [friend.address], max_signatures: 2 },
    })
    story.solana.airdrop(friend.address, 5n * SOL)
  }, 60_000)
  afterAll(() => story.stop())

  const sign = (transaction: string) =>
    story.service.api<Signed>('POST', '/relayers/main/sign-transaction', { transaction })

  /** A transaction whose fee `payer` pays, with a signature that is worth nothing in the relayer's place. */
  function prebuilt(steps: readonly Step[], payer: Wallet = AS_PAYER, ...cosigners: readonly Wallet[]) {
    const { blockhash } = story.solana.blocks.at(-2) ?? { blockhash: '' }
    return signContent({ signers: [payer, ...cosigners], blockhash, steps })
  }

  async function submit(transaction: string): Promise<unknown> {
    const answer = await fetch(story.solana.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'sendTransaction',
        params: [transaction, { encoding: 'base64', preflightCommitment: 'confirmed' }],
      }),
    })
    return ((await answer.json()) as { result?: unknown }).result
  }

  const pay = (lamports: bigint) => transfer(SELF, address(SOLANA_RECEIVER), lamports)

  describe('POST …/sign-transaction', () => {
    test('a transaction is signed as it is, and the network takes it', async () => {
      const unsigned = prebuilt([pay(77n)])
      const { status, body } = await sign(unsigned.base64)
      expect({ status, error: body.error }).toEqual({ status: 200, error: undefined })
      const raw = Buffer.from(body.data.transaction, 'base64')
      expect(raw.subarray(1 + SIGNATURE_BYTES)).toEqual(unsigned.message)
      expect(Buffer.from(getBase58Encoder().encode(body.data.signature))).toEqual(
        raw.subarray(1, 1 + SIGNATURE_BYTES),
      )
      const before = story.solana.account(SOLANA_RECEIVER)?.lamports ?? 0n
      expect(await submit(body.data.transaction)).toBe(body.data.signature)
      story.solana.tick()
      expect(story.solana.account(SOLANA_RECEIVER)?.lamports).toBe(before + 77n)
    })

    test('the signature of a third party may be missing, and stays missing', async () => {
      const cosigner = createWallet()
      story.solana.airdrop(cosigner.address, SOL)
      const steps = [transfer(cosigner.address, createWallet().address, SOL / 100n)]
      const unsigned = Buffer.from(prebuilt(steps, AS_PAYER, cosigner).bytes)
      unsigned.fill(0, 1 + SIGNATURE_BYTES, 1 + 2 * SIGNATURE_BYTES)
      const { status, body } = await sign(unsigned.toString('base64'))
      expect({ status, error: body.error }).toEqual({ status: 200, error: undefined })
      const raw = Buffer.from(body.data.transaction, 'base64')
      expect(raw.subarray(1 + SIGNATURE_BYTES)).toEqual(unsigned.subarray(1 + SIGNATURE_BYTES))
      const key = createEd25519Signer('main', seedOf('main')).publicKey
      const x = Buffer.from(key).toString('base64url')
      const message = unsigned.subarray(1 + 2 * SIGNATURE_BYTES)
      expect(
        verify(
          null,
          message,
          { key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' },
          raw.subarray(1, 1 + SIGNATURE_BYTES),
        ),
      ).toBe(true)
    })

    test.each<[string, () => string, string, string]>([
      ['no transaction', () => 'AQAAAA==', 'invalid_request', 'transaction'],
      ['no base64', () => '####', 'invalid_request', 'transaction'],
      [
        'another fee payer',
        () => prebuilt([transfer(friend.address, address(SOLANA_RECEIVER), 1n)], friend).base64,
        'invalid_request',
        'fee payer',
      ],
      [
        'an account that is disallowed',
        () => prebuilt([transfer(SELF, friend.address, 1n)]).base64,
        'policy_violation',
        'disallowed_accounts',
      ],
      [
        'the relayer as more than the payer of the fee',
        () => prebuilt([pay(5n)], AS_PAYER, createWallet()).base64,
        'fee_payer_at_risk',
        'instruction 0',
      ],
      ['more than there is', () => prebuilt([pay(100n * SOL)]).base64, 'insufficient_balance', ''],
    ])('%s is refused and named', async (_name, transaction, code, words) => {
      const { status, body } = await sign(transaction())
      expect({ status, code: body.code }).toEqual({ status: 400, code })
      expect(body.error).toContain(words)
    })

    test('stores nothing', async () => {
      const { body } = await story.service.api('GET', '/relayers/main/transactions?per_page=0')
      expect(body.pagination?.total_items).toBe(0)
    })
  })
})
