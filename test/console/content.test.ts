import { describe, expect, test } from 'vitest'
import type { Schemas } from '../../clients/typescript/src/index.ts'
import { currencyOf, formatPlain, parseAmount } from '../../console/src/format/amounts.ts'
import { actionsOf, canceledContent } from '../../console/src/format/content.ts'

type Evm = Schemas['EvmTransaction']

const FROM = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const TO = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const OTHER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const COMMON = { id: 't', relayer_id: 'main', status: 'pending', created_at: '2026-11-20T10:00:00Z' } as const
const ETH = currencyOf('evm', 'ETH')

const word = (text: string) => text.padStart(64, '0')
const call = (selector: string, ...words: string[]) => `0x${selector}${words.map(word).join('')}`
const ADDRESS = TO.slice(2).toLowerCase()

describe('content on EVM networks', () => {
  const evm = (content: Partial<Evm>): Evm =>
    ({ ...COMMON, network_type: 'evm', from: FROM, value: '0', ...content }) as Evm

  test.each([
    [
      { to: TO, value: '300' },
      { verb: 'pays', to: TO, money: { units: 300n, currency: ETH } },
    ],
    [{ to: FROM.toLowerCase() }, { verb: 'does nothing' }],
    [
      { to: FROM, value: '1' },
      { verb: 'pays', to: FROM, money: { units: 1n, currency: ETH } },
    ],
    [{ value: '5' }, { verb: 'creates a contract', money: { units: 5n, currency: ETH } }],
    [
      { to: TOKEN, data: call('a9059cbb', ADDRESS, 'ff') },
      { verb: 'pays', to: TO.toLowerCase(), money: { units: 255n, token: TOKEN } },
    ],
    [
      { to: TOKEN, data: call('095ea7b3', ADDRESS, 'f'.repeat(64)) },
      { verb: 'lets take', to: TO.toLowerCase(), money: { units: 2n ** 256n - 1n, token: TOKEN } },
    ],
  ])('%o', (content, action) => {
    expect(actionsOf(evm(content), ETH)).toEqual([action])
  })

  test.each([
    ['a byte too many', call('a9059cbb', ADDRESS, 'ff').concat('00'), '0'],
    [
      'an address with more than 20 bytes',
      call('a9059cbb', `1${'0'.repeat(24)}${ADDRESS}`.slice(0, 64), '1'),
      '0',
    ],
    ['another function', call('23b872dd', ADDRESS, ADDRESS, '1'), '0'],
    ['ether beside the call', call('a9059cbb', ADDRESS, 'ff'), '7'],
  ])('a call of a token with %s is no payment of it', (_name, data, value) => {
    const [action] = actionsOf(evm({ to: TOKEN, data, value }), ETH)
    expect(action).toMatchObject({ verb: 'calls', to: TOKEN })
    expect(action?.money?.token).toBeUndefined()
  })

  test('transfers say who pays whom in a call, and a value beside them goes to the contract', () => {
    const transfers = [
      { asset: 'native', amount: '7', from: FROM, to: TOKEN },
      { asset: TOKEN.toLowerCase(), amount: '5', from: FROM, to: TO },
      { asset: OTHER, amount: '1', token_id: '9', from: OTHER, to: TO },
    ]
    const data = call('e3ee160e', ADDRESS)
    const paid = [
      { verb: 'pays', to: TO, money: { units: 5n, token: TOKEN } },
      { verb: 'pays', to: TO, from: OTHER, money: { units: 1n, token: OTHER }, text: 'token 9' },
    ]
    expect(actionsOf(evm({ to: TOKEN, data, transfers: transfers.slice(1) }), ETH)).toEqual(paid)
    expect(actionsOf(evm({ to: TOKEN, data, value: '7', transfers }), ETH)).toEqual([
      ...paid,
      { verb: 'calls', to: TOKEN, money: { units: 7n, currency: ETH } },
    ])
  })

  test('a no-op goes on saying what it is in the place of, and an included payment does not', () => {
    const requested = { to: TO, value: '300' }
    const noop = evm({ to: FROM, requested })
    expect(canceledContent(noop)).toMatchObject(requested)
    expect(canceledContent(evm({ to: TO, value: '7', requested }))).toBeUndefined()
    expect(canceledContent(evm({ to: FROM }))).toBeUndefined()
  })

  test('a decoded call gives the address its checksum', () => {
    const decoded_call = {
      function: 'transfer(address,uint256)',
      contract_name: null,
      source: 'standard',
      args: [{ name: 'to', type: 'address', value: TO }],
    } as const
    const [action] = actionsOf(evm({ to: TOKEN, data: call('a9059cbb', ADDRESS, '1'), decoded_call }), ETH)
    expect(action?.to).toBe(TO)
  })
})

describe('content on Stellar', () => {
  const XLM = currencyOf('stellar')
  const ISSUER = 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ'
  const stellar = (...operations: readonly Schemas['OperationSpec'][]) =>
    actionsOf({ ...COMMON, network_type: 'stellar', from: ISSUER, source_account: ISSUER, operations }, XLM)

  test('classic assets have seven decimals, and others keep the name of what they do', () => {
    const asset = { type: 'credit_alphanum4', code: 'USDC', issuer: ISSUER } as const
    expect(
      stellar(
        { type: 'payment', destination: ISSUER, asset: { type: 'native' }, amount: 25_000_000n },
        { type: 'payment', destination: ISSUER, asset, amount: 1n },
        { type: 'bump_sequence', bump_to: 5n },
      ),
    ).toEqual([
      { verb: 'pays', to: ISSUER, money: { units: 25_000_000n, currency: XLM } },
      {
        verb: 'pays',
        to: ISSUER,
        money: { units: 1n, currency: { symbol: 'USDC', decimals: 7 }, token: ISSUER },
      },
      { verb: 'other', text: 'bump sequence' },
    ])
  })

  test('a prebuilt envelope tells nothing', () => {
    expect(stellar()).toEqual([])
  })
})

describe('content on Solana', () => {
  const SOL = currencyOf('solana')
  const account = (pubkey: string) => ({ pubkey, is_signer: false, is_writable: true })
  const solana = (program_id: string, data: readonly number[]) =>
    actionsOf(
      {
        ...COMMON,
        network_type: 'solana',
        from: 'payer',
        instructions: [
          {
            program_id,
            accounts: ['source', 'second', 'third'].map(account),
            data: Buffer.from(data).toString('base64'),
          },
        ],
      },
      SOL,
    )

  test('a transfer of lamports, and one of tokens that names its mint and decimals', () => {
    expect(solana('1'.repeat(32), [2, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0])).toEqual([
      { verb: 'pays', to: 'second', money: { units: 513n, currency: SOL } },
    ])
    const tokens = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
    expect(solana(tokens, [12, 7, 0, 0, 0, 0, 0, 0, 0, 6])).toEqual([
      {
        verb: 'pays',
        to: 'third',
        money: { units: 7n, currency: { symbol: 'tokens', decimals: 6 }, token: 'second' },
      },
    ])
    expect(solana(tokens, [3, 7, 0, 0, 0, 0, 0, 0, 0])).toEqual([{ verb: 'calls', to: tokens }])
  })
})

describe('amounts that a person writes', () => {
  test.each([
    ['1', 10n ** 18n],
    [' 0.000000000000000001 ', 1n],
    ['12.50', 125n * 10n ** 17n],
    ['340282366920938463463374607431.768211455', 340282366920938463463374607431768211455n * 10n ** 9n],
  ])('%s', (text, amount) => {
    expect(parseAmount(text, 18)).toBe(amount)
    expect(parseAmount(formatPlain(amount, 18), 18)).toBe(amount)
  })

  test.each(['', '1,000', '.5', '1.', '1e18', '-1', '0x10', '1.0000000000000000001', '1 000'])(
    '%s is none',
    (text) => {
      expect(parseAmount(text, 18)).toBeTypeOf('string')
    },
  )
})

describe('a prebuilt transaction', () => {
  const ISSUER = `G${'A'.repeat(55)}`
  test.each(['stellar', 'solana'] as const)('on %s says what the service has read in it', (network_type) => {
    const transaction = {
      ...COMMON,
      network_type,
      from: 'payer',
      transfers: [
        { asset: 'native', amount: '5', from: 'payer', to: 'a' },
        { asset: 'mint', amount: '6', decimals: 6, from: 'other', to: 'b' },
        { asset: `EUR:${ISSUER}`, amount: '7', decimals: 7, from: 'payer' },
      ],
    } as Schemas['Transaction']
    const native = currencyOf(network_type)
    expect(actionsOf(transaction, native)).toEqual([
      { verb: 'pays', to: 'a', money: { units: 5n, currency: native } },
      {
        verb: 'pays',
        to: 'b',
        from: 'other',
        money: { units: 6n, token: 'mint', currency: { symbol: 'tokens', decimals: 6 } },
      },
      { verb: 'pays', money: { units: 7n, token: ISSUER, currency: { symbol: 'EUR', decimals: 7 } } },
    ])
  })
})

describe('a token that the operator names', () => {
  const named = { symbol: 'USDC', decimals: 6 }
  const currency = { symbol: 'USDC', decimals: 6 }

  test('is shown by its name on EVM', () => {
    const transaction = {
      ...COMMON,
      network_type: 'evm',
      from: FROM,
      to: TOKEN,
      value: '0',
      data: call('a9059cbb', ADDRESS, 'ff'),
      transfers: [{ asset: TOKEN.toLowerCase(), amount: '255', from: FROM, to: TO, ...named }],
    } as Evm
    expect(actionsOf(transaction, ETH)).toEqual([{ verb: 'pays', to: TO, money: { units: 255n, currency } }])
  })

  test('is shown by its name on Stellar, and another code of the same issuer is not', () => {
    const issuer = `G${'A'.repeat(55)}`
    const payment = (code: string) =>
      ({
        type: 'payment',
        destination: 'a',
        asset: { type: 'credit_alphanum4', code, issuer },
        amount: '5',
      }) as const
    const transaction = {
      ...COMMON,
      network_type: 'stellar',
      from: 'payer',
      source_account: 'payer',
      operations: [payment('USDC'), payment('EUR')],
      transfers: [
        { asset: `USDC:${issuer}`, amount: '5', to: 'a', ...named, decimals: 7 },
        { asset: `EUR:${issuer}`, amount: '5', to: 'a', decimals: 7 },
      ],
    } as Schemas['Transaction']
    const moneys = actionsOf(transaction, currencyOf('stellar')).map(({ money }) => money)
    expect(moneys).toEqual([
      { units: 5n, currency: { symbol: 'USDC', decimals: 7 } },
      { units: 5n, currency: { symbol: 'EUR', decimals: 7 }, token: issuer },
    ])
  })
})
