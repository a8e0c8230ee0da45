import { createHash } from 'node:crypto'
import { Account, Address, Asset, Operation, TransactionBuilder, xdr } from '@stellar/stellar-sdk'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  type Authorization,
  creation,
  invocation,
  preimageOf,
  tokenTransfer,
} from '../../../simulators/stellar/transaction/authorization.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { issueLimited, outcomeOf, usageOf, violationIn } from '../../support/limited-key.ts'
import type { Answer } from '../../support/service.ts'
import {
  keypairOf,
  MAIN,
  RECEIVER,
  type StellarScenario,
  startStellarScenario,
} from '../../support/stellar-scenario.ts'

type Signature = Schemas['Signature']

const PATH = '/relayers/main/sign-authorization-entry'
const SELF = MAIN.publicKey()
const OTHER = keypairOf('other').publicKey()
const TOKEN = Address.contract(Buffer.alloc(32, 1)).toString()
const VAULT = Address.contract(Buffer.alloc(32, 2)).toString()
const ROUTER = Address.contract(Buffer.alloc(32, 3)).toString()

let story: StellarScenario
beforeAll(async () => {
  story = await startStellarScenario()
}, 60_000)
afterAll(() => story.stop())

const newest = () => story.ledger.ledgers.at(-1)?.sequence ?? 0
const pay = (amount: bigint, from = SELF) => tokenTransfer({ token: TOKEN, from, to: RECEIVER, amount })

/** A preimage for the relayer, which differs from a good one by `change`. */
function preimage(root = pay(5n), change: Partial<Authorization> = {}): string {
  const { passphrase } = story.ledger
  return preimageOf({ passphrase, root, expirationLedger: newest() + 100, ...change })
}

const sign = (preimage_xdr: string) => story.service.api<Signature>('POST', PATH, { preimage_xdr })
const sha256 = (base64: string) => createHash('sha256').update(Buffer.from(base64, 'base64')).digest()
const isBySelf = (base64: string, { body }: Answer<Signature>) =>
  MAIN.verify(sha256(base64), Buffer.from(body.data.signature ?? '', 'base64'))

interface Entry {
  readonly action: string
  readonly target_id: string
  readonly after?: object
}

/** What the audit log says that was authorized, newest first. */
async function audited(): Promise<Entry[]> {
  const { body } = await story.service.api<Entry[]>('GET', '/audit?limit=100')
  return body.data.filter(({ action }) => action === 'signAuthorizationEntry')
}

describe('POST …/sign-authorization-entry', () => {
  test.each<[string, Partial<Authorization>]>([
    ['of the type without an address', {}],
    ['of the type with the address of the relayer', { address: SELF }],
    ['with the lowest nonce', { nonce: -(2n ** 63n) }],
    ['with the highest nonce', { nonce: 2n ** 63n - 1n }],
  ])('a preimage %s is signed by its hash', async (_name, change) => {
    const xdr = preimage(pay(5n), change)
    const answer = await sign(xdr)
    expect(answer.status).toBe(200)
    const { r, s, sig, v, public_key } = answer.body.data
    expect({ sig, v, public_key }).toEqual({ sig: r + s, v: 0, public_key: SELF })
    expect(isBySelf(xdr, answer)).toBe(true)
  })

  test.each([1, 120])('the last ledger may be %d after the newest', async (ahead) => {
    expect(outcomeOf(await sign(preimage(pay(5n), { expirationLedger: newest() + ahead })))).toBe('200')
  })

  test('the audit log has its hash, and nothing of what is refused', async () => {
    const xdr = preimage(pay(77n))
    await sign(xdr)
    const before = await audited()
    expect(before[0]).toMatchObject({ target_id: 'main', after: { sha256: sha256(xdr).toString('hex') } })
    await sign(preimage(pay(5n), { expirationLedger: 1 }))
    const key = await issueLimited(story.service, { contracts: [] })
    expect(violationIn(await key.call('POST', PATH, { preimage_xdr: preimage() }))).toContain('contracts')
    expect(await audited()).toEqual(before)
  })
})

/** The bytes behind the hash of a transaction. */
function transactionPreimage(): string {
  const builder = new TransactionBuilder(new Account(SELF, '1'), {
    fee: '100',
    networkPassphrase: story.ledger.passphrase,
  })
  const payment = Operation.payment({ destination: OTHER, asset: Asset.native(), amount: '1' })
  const bytes = builder.addOperation(payment).setTimeout(0).build().signatureBase()
  return Buffer.from(bytes).toString('base64')
}

function contractIdPreimage(): string {
  const contractIdPreimage = xdr.ContractIdPreimage.contractIdPreimageFromAsset(xdr.Asset.assetTypeNative())
  const networkId = createHash('sha256').update(story.ledger.passphrase).digest()
  return xdr.HashIdPreimage.envelopeTypeContractId(
    new xdr.HashIdPreimageContractId({ networkId, contractIdPreimage }),
  ).toXdr('base64')
}

/** A good preimage with other bytes at its end. */
function cut(change: (bytes: Buffer) => Buffer): string {
  return change(Buffer.from(preimage(), 'base64')).toString('base64')
}

/** More levels than the decoder reads, and than the encoder of the SDK writes. */
function tooDeep(): string {
  const bytes = Buffer.from(preimage(invocation(VAULT, 'f')), 'base64')
  const [head, call, none] = [bytes.subarray(0, 48), bytes.subarray(48, -4), bytes.subarray(-4)]
  const levels = Array.from({ length: 600 }, () => [call, Buffer.from([0, 0, 0, 1])]).flat()
  return Buffer.concat([head, ...levels, call, none]).toString('base64')
}

describe('a request to sign an authorization entry is refused', () => {
  test.each<[string, () => string, string]>([
    ['no XDR', () => 'AAAA', 'a HashIdPreimage of a Soroban authorization is expected'],
    ['the preimage of a transaction', transactionPreimage, 'a HashIdPreimage of a Soroban authorization'],
    ['the preimage of an id', contractIdPreimage, 'a HashIdPreimage of a Soroban authorization is expected'],
    ['truncated XDR', () => cut((bytes) => bytes.subarray(0, -4)), 'a HashIdPreimage of a Soroban'],
    ['XDR with more behind it', () => cut((b) => Buffer.concat([b, Buffer.alloc(4)])), 'a HashIdPreimage'],
    ['XDR that is too deep', tooDeep, 'a HashIdPreimage of a Soroban authorization is expected'],
    ['no base64', () => '####', 'base64 with padding'],
    ['nothing', () => '', 'body.preimage_xdr'],
    ['more than the largest transaction', () => 'AAAA'.repeat(44_033), 'body.preimage_xdr'],
    ['another network', () => preimage(pay(1n), { passphrase: 'another' }), 'it is for another network'],
    ['another account', () => preimage(pay(1n), { address: OTHER }), `that of the relayer, ${SELF}`],
    ['a contract as account', () => preimage(pay(1n), { address: VAULT }), `that of the relayer, ${SELF}`],
    [
      'the newest ledger',
      () => preimage(pay(1n), { expirationLedger: newest() }),
      'signatureExpirationLedger',
    ],
    ['ledger 0', () => preimage(pay(1n), { expirationLedger: 0 }), 'signatureExpirationLedger'],
    [
      'a ledger too far ahead',
      () => preimage(pay(1n), { expirationLedger: newest() + 121 }),
      'signatureExpirationLedger: a ledger from ',
    ],
    ['the last of all ledgers', () => preimage(pay(1n), { expirationLedger: 2 ** 32 - 1 }), '4294967295'],
  ])('for its content: %s', async (_name, text, words) => {
    const { status, body } = await sign(text())
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' })
    expect(body.error).toMatch(/^(body\.)?preimage_xdr: /)
    expect(body.error).toContain(words)
  })

  test('when the nodes of the network do not answer', async () => {
    const silent = await startStellarScenario({ urls: () => ['http://127.0.0.1:9'] })
    onTestFinished(() => silent.stop())
    const answer = await silent.service.api('POST', PATH, { preimage_xdr: preimage() })
    expect(answer.body.code).toBe('network_unavailable')
  })

  test('for a key without the scope, and for one that does not see the relayer', async () => {
    const issue = async (rights: object) => {
      const { body } = await story.service.api<{ secret: string }>('POST', '/api-keys', {
        name: 'K',
        ...rights,
      })
      return { authorization: `Bearer ${body.data.secret}` }
    }
    const preimage_xdr = preimage()
    const scopeless = await issue({ scopes: ['relayers:read', 'transactions:write'] })
    expect((await story.service.api('POST', PATH, { preimage_xdr }, scopeless)).status).toBe(403)
    const blind = await issue({ scopes: ['sign'], relayers: ['another'] })
    const hidden = await story.service.api('POST', PATH, { preimage_xdr }, blind)
    const unknown = await story.service.api('POST', PATH.replace('main', 'nobody'), { preimage_xdr })
    expect([hidden.status, unknown.status]).toEqual([404, 404])
  })
})

describe('rules hold for what an authorization authorizes', () => {
  test('each call of the tree counts in the budget for ever, and nothing is signed beyond it', async () => {
    const key = await issueLimited(story.service, {
      contracts: [ROUTER, TOKEN],
      limits: [
        { per: 'day', asset: TOKEN, value: '100' },
        { per: 'day', count: 3 },
      ],
    })
    const signWith = (root: xdr.SorobanAuthorizedInvocation) =>
      key.call('POST', PATH, { preimage_xdr: preimage(root) })
    const swap = (...amounts: readonly bigint[]) =>
      invocation(
        ROUTER,
        'swap',
        [],
        amounts.map((amount) => invocation(ROUTER, 'step', [], [pay(amount)])),
      )
    expect(outcomeOf(await signWith(swap(20n, 30n)))).toBe('200')
    expect(violationIn(await signWith(swap(25n, 26n)))).toContain(
      '50 is left, and this transaction needs up to 51.',
    )
    // The signature would be good for every account that has the key.
    expect(violationIn(await signWith(pay(51n, OTHER)))).toContain('needs up to 51.')
    expect(outcomeOf(await signWith(pay(50n)))).toBe('200')
    expect(violationIn(await signWith(pay(1n)))).toContain('0 is left')
    const { limits } = await key.usage()
    expect([limits[0]?.value?.spent, limits[1]?.count?.spent]).toEqual(['100', '2'])
  })

  test('without rules it is signed, and under a limit the calls that cannot be read are refused', async () => {
    const limits = [{ per: 'day', asset: TOKEN, value: '100' }]
    const opaque = { preimage_xdr: preimage(invocation(VAULT, 'withdraw')) }
    expect(outcomeOf(await story.service.api('POST', PATH, opaque))).toBe('200')
    const limited = await issueLimited(story.service, { limits })
    expect(violationIn(await limited.call('POST', PATH, opaque))).toContain(
      `what ${VAULT} moves cannot be read`,
    )
    const listing = await issueLimited(story.service, { limits, contracts: [VAULT] })
    expect(outcomeOf(await listing.call('POST', PATH, opaque))).toBe('200')
  })

  test.each<[string, object, () => xdr.SorobanAuthorizedInvocation, string]>([
    [
      'another contract below',
      { contracts: [VAULT] },
      () => invocation(VAULT, 'f', [], [pay(1n)]),
      `${TOKEN} is not`,
    ],
    [
      'another receiver below',
      { receivers: [OTHER], contracts: [VAULT, TOKEN] },
      () => invocation(VAULT, 'f', [], [pay(1n)]),
      `${RECEIVER} is not`,
    ],
    [
      'a created contract below',
      { contracts: [VAULT] },
      () => invocation(VAULT, 'f', [], [creation()]),
      'contract creation is not',
    ],
    ['an operation', { operations: ['payment'] }, () => pay(1n), 'invoke_contract is not'],
    [
      'what needs an approval',
      { require_approval: { above: [{ asset: TOKEN, value: '4' }] }, contracts: [TOKEN] },
      () => pay(5n),
      'A signature cannot wait',
    ],
  ])('%s is refused', async (_name, rules, root, words) => {
    const key = await issueLimited(story.service, rules)
    expect(violationIn(await key.call('POST', PATH, { preimage_xdr: preimage(root()) }))).toContain(words)
  })

  describe('of a relayer', () => {
    afterEach(() =>
      story.service.api('PATCH', '/relayers/main', { paused: false, policies: { rules: null } }),
    )

    test('hold for the root key too', async () => {
      const rules = { contracts: [TOKEN], limits: [{ per: 'day', asset: TOKEN, value: '10' }] }
      await story.service.api('PATCH', '/relayers/main', { policies: { rules } })
      expect(violationIn(await sign(preimage(pay(11n))))).toContain('of relayer main')
      expect(outcomeOf(await sign(preimage(pay(10n))))).toBe('200')
      expect((await usageOf(story.service, '/relayers/main')).limits[0]?.value?.left).toBe('0')
    })

    test('a paused one signs nothing', async () => {
      await story.service.api('PATCH', '/relayers/main', { paused: true })
      expect(outcomeOf(await sign(preimage()))).toBe('400 relayer_paused')
    })
  })
})
