import type { Address } from '@solana/kit'
import { describe, expect, test } from 'vitest'
import {
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../simulators/solana/runtime/programs.ts'
import { ASSOCIATED_TOKEN_PROGRAM } from '../../../simulators/solana/tokens.ts'
import {
  advanceNonce,
  createAccount,
  createTable,
  createWallet,
  initializeNonce,
  openTokenAccount,
  type Step,
  signContent,
  transfer,
  transferTokens,
  u32,
  u64,
  unitLimit,
  unitPrice,
} from '../../../simulators/solana/wallet.ts'
import type { Effects } from '../../../src/chains/effects.ts'
import type { SolanaRequest } from '../../../src/chains/solana/content.ts'
import { solanaEffects } from '../../../src/chains/solana/effects/effects.ts'
import { addressBytes, MEMO_PROGRAM, MEMO_V1_PROGRAM } from '../../../src/chains/solana/wire/addresses.ts'
import { allowing, effectsWith } from '../../support/samples.ts'
import { AS_PAYER, instructionsOf, OTHER, requestOf, SELF, someAddress } from './build.ts'

const COSIGNER = createWallet()
const [NEW, SOURCE, TARGET, MINT, PROGRAM, MULTISIG] = [31, 32, 33, 34, 35, 36].map(someAddress) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
]
const TABLE = someAddress(40)

const NONE = effectsWith()

const effectsOf = (request: SolanaRequest) => solanaEffects(request, SELF)
const effectsOfSteps = (...steps: readonly Step[]) => effectsOf(instructionsOf(...steps))

const called = (program: string, want: Partial<Effects> = {}): Effects => ({
  ...NONE,
  contracts: [program],
  ...want,
})
const unread = (program: string) => called(program, { unread: [{ target: program }] })
const paid = (asset: string, value: bigint, ...receivers: readonly string[]) => ({
  receivers,
  amounts: [{ asset, value }],
})

const step = (program: Address, accounts: readonly Address[], ...data: readonly Uint8Array[]): Step => ({
  program,
  accounts: accounts.map((address) => ({ address, writes: true })),
  data: Buffer.concat(data),
})
const bytes = (...values: readonly number[]) => Buffer.from(values)
const key = (address: Address) => Buffer.from(addressBytes(address))
const longer = (one: Step): Step => ({ ...one, data: Buffer.concat([one.data, bytes(0)]) })
const shorter = (one: Step): Step => ({ ...one, data: one.data.subarray(0, -1) })
const withoutLast = (one: Step): Step => ({ ...one, accounts: one.accounts.slice(0, -1) })
const withMore = (one: Step, ...more: readonly Address[]): Step => ({
  ...one,
  accounts: [...one.accounts, ...more.map((address) => ({ address }))],
})

const SEED = Buffer.concat([u64(4n), Buffer.from('seed')])
const SPACE = { lamports: 6n, space: 165, owner: TOKEN_PROGRAM }
const PAY = transfer(SELF, OTHER, 5n)
const CREATE = createAccount(SELF, NEW, SPACE)
const CREATE_WITH_SEED = step(
  SYSTEM_PROGRAM,
  [SELF, NEW],
  u32(3),
  key(SELF),
  SEED,
  u64(7n),
  u64(165n),
  key(TOKEN_PROGRAM),
)
const PAY_WITH_SEED = (from: Address) =>
  step(SYSTEM_PROGRAM, [from, SELF, OTHER], u32(11), u64(8n), SEED, key(SYSTEM_PROGRAM))
const system = (kind: number, accounts: readonly Address[], ...data: readonly Uint8Array[]) =>
  step(SYSTEM_PROGRAM, accounts, u32(kind), ...data)

describe('the system program', () => {
  test.each<[string, Step, Partial<Effects>]>([
    ['transfer', PAY, paid('native', 5n, OTHER)],
    ['createAccount', CREATE, paid('native', 6n, NEW)],
    ['createAccountWithSeed', CREATE_WITH_SEED, paid('native', 7n, NEW)],
    ['transferWithSeed', PAY_WITH_SEED(SELF), paid('native', 8n, OTHER)],
    ['a transfer to the relayer', step(SYSTEM_PROGRAM, [OTHER, SELF], PAY.data), {}],
    ['a transfer of others', step(SYSTEM_PROGRAM, [OTHER, NEW], PAY.data), {}],
    ['advanceNonceAccount', advanceNonce(NEW, SELF), {}],
    ['initializeNonceAccount', withMore(initializeNonce(NEW, SELF), SELF), {}],
    ['allocate', system(8, [NEW, SELF], u64(9n)), {}],
    ['assign of an account of others', system(1, [NEW], key(PROGRAM)), {}],
  ])('%s is read', (_what, one, want) => {
    expect(effectsOfSteps(one)).toEqual(called(SYSTEM_PROGRAM, want))
  })

  test.each<[string, Step]>([
    ['assign', system(1, [SELF], key(PROGRAM))],
    ['withdrawNonceAccount', system(5, [NEW, OTHER, MINT, PROGRAM, SELF], u64(1n))],
    ['authorizeNonceAccount', system(7, [NEW, SELF], key(OTHER))],
    ['allocate of the relayer', system(8, [SELF], u64(9n))],
    ['allocateWithSeed', system(9, [NEW, SELF], key(SELF), SEED, u64(9n), key(PROGRAM))],
    ['assignWithSeed', system(10, [NEW, SELF], key(SELF), SEED, key(PROGRAM))],
    ['upgradeNonceAccount', system(12, [NEW, SELF])],
    ['an unknown kind', system(13, [SELF, OTHER], u64(1n))],
    ['no kind', step(SYSTEM_PROGRAM, [SELF, OTHER], bytes(2, 0, 0))],
    ['transferWithSeed from an account of the relayer', PAY_WITH_SEED(NEW)],
    ['createAccount that others pay', step(SYSTEM_PROGRAM, [OTHER, SELF], CREATE.data)],
    ['a seed that is too short to be one', step(SYSTEM_PROGRAM, [SELF, SELF, OTHER], u32(11), u64(8n))],
    [
      'a seed that is longer than the data',
      system(11, [SELF, SELF, OTHER], u64(8n), u64(2n ** 64n - 1n), key(PROGRAM)),
    ],
  ])('%s is unread', (_what, one) => {
    expect(effectsOfSteps(one)).toEqual(unread(SYSTEM_PROGRAM))
  })

  test.each(Object.entries({ PAY, CREATE, CREATE_WITH_SEED, PAY_WITH_SEED: PAY_WITH_SEED(SELF) }))(
    '%s with other bytes or accounts is unread',
    (_what, one) => {
      for (const changed of [longer(one), shorter(one), withoutLast(one)])
        expect(effectsOfSteps(changed)).toEqual(unread(SYSTEM_PROGRAM))
    },
  )

  test.each([advanceNonce(NEW, SELF), system(8, [NEW, SELF], u64(9n))])(
    'what moves nothing is unread with more bytes (%#)',
    (one) => {
      expect(effectsOfSteps(longer(one))).toEqual(unread(SYSTEM_PROGRAM))
    },
  )
})

const token = (kind: number, accounts: readonly Address[], program: Address = TOKEN_PROGRAM) =>
  step(program, accounts, bytes(kind), u64(9n), bytes(6))
const SEND = [SOURCE, MINT, TARGET, SELF] as const
const WITH_FEE = (program: Address) => step(program, SEND, bytes(26, 1), u64(9n), bytes(6), u64(1n))

describe.each([
  ['SPL Token', TOKEN_PROGRAM],
  ['Token-2022', TOKEN_2022_PROGRAM],
])('%s', (_name, program) => {
  const checked = {
    transferChecked: token(12, SEND, program),
    approveChecked: token(13, SEND, program),
    burnChecked: token(15, [SOURCE, MINT, SELF], program),
  }

  test.each<[string, Step, Partial<Effects>]>([
    ['transferChecked', checked.transferChecked, paid(MINT, 9n, TARGET)],
    ['approveChecked', checked.approveChecked, allowing(paid(MINT, 9n, TARGET))],
    ['burnChecked', checked.burnChecked, paid(MINT, 9n)],
    [
      'approveChecked of a multisig account',
      token(13, [SOURCE, MINT, TARGET, MULTISIG, OTHER, SELF], program),
      allowing(paid(MINT, 9n, TARGET)),
    ],
    ['a transfer of others', token(12, [SOURCE, MINT, TARGET, OTHER], program), {}],
    ['a transfer of others without its mint', token(3, [SOURCE, TARGET, OTHER], program), {}],
    ['initializeAccount', step(program, [NEW, MINT, SELF], bytes(1)), {}],
    ['initializeAccount2', withMore(step(program, [NEW, MINT], bytes(16), key(SELF)), SELF), {}],
    ['initializeAccount3', withMore(step(program, [NEW, MINT], bytes(18), key(SELF)), SELF), {}],
    ['initializeImmutableOwner', step(program, [NEW, SELF], bytes(22)), {}],
    ['revoke', step(program, [SOURCE, SELF], bytes(5)), {}],
    ['thawAccount', step(program, [SOURCE, MINT, SELF], bytes(11)), {}],
    ['syncNative', step(program, [SOURCE, SELF], bytes(17)), {}],
  ])('%s is read', (_what, one, want) => {
    expect(effectsOfSteps(one)).toEqual(called(program, want))
  })

  test.each<[string, Step]>([
    ['transfer', { ...transferTokens(SOURCE, TARGET, SELF, 9n), program }],
    ['approve', step(program, [SOURCE, TARGET, SELF], bytes(4), u64(9n))],
    ['burn', step(program, [SOURCE, MINT, SELF], bytes(8), u64(9n))],
    ['setAuthority', step(program, [SOURCE, SELF], bytes(6, 2, 1), key(OTHER))],
    ['mintTo', step(program, [MINT, TARGET, SELF], bytes(7), u64(9n))],
    ['mintToChecked', token(14, [MINT, TARGET, SELF], program)],
    ['closeAccount', step(program, [SOURCE, OTHER, SELF], bytes(9))],
    ['freezeAccount', step(program, [SOURCE, MINT, SELF], bytes(10))],
    ['withdrawExcessLamports', step(program, [SOURCE, OTHER, SELF], bytes(38))],
    ['unwrapLamports', step(program, [SOURCE, OTHER, SELF], bytes(45, 0))],
    ['batch', step(program, [SOURCE, TARGET, SELF], bytes(255, 3, 9, 3), u64(9n))],
    ['an unknown extension', step(program, SEND, bytes(26, 2), u64(9n), bytes(6), u64(1n))],
    ['no kind', step(program, [SELF])],
    ['the relayer as no owner', token(12, [SELF, MINT, TARGET, OTHER], program)],
    ['revoke with more bytes', step(program, [SOURCE, SELF], bytes(5, 0))],
  ])('%s is unread', (_what, one) => {
    expect(effectsOfSteps(one)).toEqual(unread(program))
  })

  test.each(Object.entries(checked))('%s with other bytes is unread', (_what, one) => {
    for (const changed of [longer(one), shorter(one)])
      expect(effectsOfSteps(changed)).toEqual(unread(program))
  })

  test('an instruction without its owner is unread', () => {
    for (const kind of [12, 13])
      expect(effectsOfSteps(token(kind, [SELF, MINT, TARGET], program))).toEqual(unread(program))
  })
})

describe('a transfer hook', () => {
  const multisig = [SOURCE, MINT, TARGET, MULTISIG, OTHER, SELF]
  test('may receive the signature of the relayer, so more accounts are unread', () => {
    for (const accounts of [multisig, [...SEND, PROGRAM], [SOURCE, MINT, TARGET, OTHER, SELF]])
      expect(effectsOfSteps(token(12, accounts, TOKEN_2022_PROGRAM))).toEqual(unread(TOKEN_2022_PROGRAM))
  })

  test('does not exist in SPL Token', () => {
    expect(effectsOfSteps(token(12, multisig))).toEqual(called(TOKEN_PROGRAM, paid(MINT, 9n, TARGET)))
  })
})

test('a transfer with a fee exists in Token-2022 only', () => {
  const one = WITH_FEE(TOKEN_2022_PROGRAM)
  expect(effectsOfSteps(one)).toEqual(called(TOKEN_2022_PROGRAM, paid(MINT, 9n, TARGET)))
  expect(effectsOfSteps(longer(one))).toEqual(unread(TOKEN_2022_PROGRAM))
  expect(effectsOfSteps(WITH_FEE(TOKEN_PROGRAM))).toEqual(unread(TOKEN_PROGRAM))
})

describe('the associated token account program', () => {
  const open = openTokenAccount(SELF, NEW, OTHER, MINT)
  const kind = (...data: readonly number[]): Step => ({ ...open, data: bytes(...data) })

  test.each([open, kind(), kind(1)])('opens accounts (%#)', (one) => {
    expect(effectsOfSteps(one)).toEqual(called(ASSOCIATED_TOKEN_PROGRAM))
  })

  test.each([kind(2), kind(0, 0), kind(3), withoutLast(open)])('is otherwise unread (%#)', (one) => {
    expect(effectsOfSteps(one)).toEqual(unread(ASSOCIATED_TOKEN_PROGRAM))
  })
})

describe('another program', () => {
  test.each([MEMO_PROGRAM, MEMO_V1_PROGRAM])('that writes a memo (%s) moves nothing', (program) => {
    expect(effectsOfSteps(step(program as Address, [SELF], Buffer.from('hi')))).toEqual(called(program))
  })

  test('that sets the compute budget is not even a call', () => {
    expect(effectsOfSteps(unitLimit(5), unitPrice(6n))).toEqual(NONE)
  })

  test.each<[string, Step]>([
    ['as a signer', { ...step(PROGRAM, []), accounts: [{ address: SELF, signs: true, writes: true }] }],
    ['as a signer that it only reads', { ...step(PROGRAM, []), accounts: [{ address: SELF, signs: true }] }],
    // The fee payer signs the whole transaction, so the program sees a signer.
    ['without its signature', { ...step(PROGRAM, []), accounts: [{ address: OTHER }, { address: SELF }] }],
  ])('that receives the account %s is unread', (_what, one) => {
    expect(effectsOfSteps(one)).toEqual(unread(PROGRAM))
  })

  test('that does not receive the account moves nothing of it', () => {
    expect(effectsOfSteps(step(PROGRAM, [OTHER, NEW]))).toEqual(called(PROGRAM))
  })

  test('that makes address tables is unread', () => {
    const one = createTable(TABLE, SELF, 5n, 1)
    expect(effectsOfSteps(one)).toEqual(unread(one.program))
  })
})

describe('a transaction', () => {
  const wire = (steps: readonly Step[], hidden: readonly Address[] = []) =>
    requestOf({
      transaction: signContent({
        signers: [AS_PAYER, COSIGNER],
        blockhash: someAddress(9),
        steps,
        ...(hidden.length === 0
          ? {}
          : { lookups: [{ table: TABLE, writable: hidden }], tables: { [TABLE]: hidden } }),
      }).base64,
    })

  test('in wire format tells the same as its instructions', () => {
    const steps = [PAY, token(12, SEND), unitLimit(5), step(PROGRAM, [SELF])]
    expect(effectsOf(wire(steps))).toEqual(effectsOfSteps(...steps))
  })

  test('adds up each asset and names everything once', () => {
    const steps = [PAY, transfer(SELF, OTHER, 1n), step(PROGRAM, [SELF]), step(PROGRAM, [SELF], bytes(1))]
    expect(effectsOfSteps(...steps)).toEqual({
      ...NONE,
      contracts: [SYSTEM_PROGRAM, PROGRAM],
      ...paid('native', 6n, OTHER),
      unread: [{ target: PROGRAM }],
    })
  })

  test('without instructions does nothing', () => {
    expect(effectsOfSteps()).toEqual(NONE)
  })

  test('of a third party that the relayer pays for moves nothing of its own', () => {
    const { address } = COSIGNER
    const steps = [transfer(address, SELF, 5n), token(12, [SOURCE, MINT, TARGET, address])]
    expect(effectsOf(wire(steps))).toEqual({ ...NONE, contracts: [SYSTEM_PROGRAM, TOKEN_PROGRAM] })
  })

  test.each<[string, Step, readonly Address[]]>([
    ['the receiver', PAY, [OTHER]],
    ['who pays', step(SYSTEM_PROGRAM, [OTHER, SELF], PAY.data), [OTHER]],
    ['the new account', CREATE_WITH_SEED, [NEW]],
    ['the mint', token(12, SEND), [MINT]],
    ['the token account that receives', token(12, SEND), [TARGET]],
    ['the delegate', token(13, SEND), [TARGET]],
    ['the mint to burn', token(15, [SOURCE, MINT, SELF]), [MINT]],
    ['the owner besides the relayer', token(12, [SELF, MINT, TARGET, OTHER]), [OTHER]],
  ])('that hides %s in a table is unread', (_what, one, hidden) => {
    expect(effectsOf(wire([one], hidden))).toEqual(unread(one.program))
  })

  test('may hide the account that its own tokens leave', () => {
    expect(effectsOf(wire([token(12, SEND)], [SOURCE]))).toEqual(
      called(TOKEN_PROGRAM, paid(MINT, 9n, TARGET)),
    )
  })
})
