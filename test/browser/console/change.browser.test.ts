import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type EveryKind, startEveryKind } from '../../support/every-kind.ts'
import { API_KEY, RECEIVER } from '../../support/service.ts'
import { RECEIVER as SOLANA_RECEIVER, MAIN as SOLANA_SENDER } from '../../support/solana-scenario.ts'
import { launchChromium } from '../launch.ts'
import { type ConsolePage, openConsole, sees } from './console-page.ts'

let world: EveryKind
let browser: Browser

beforeAll(async () => {
  ;[world, browser] = await Promise.all([
    startEveryKind({ env: { RELAYER_ALLOW_PRIVATE_URLS: 'true' } }),
    launchChromium(),
  ])
})
afterAll(async () => {
  await browser?.close()
  await world?.stop()
})

async function api(method: string, path: string, body?: object) {
  const answer = await world.service.api<Record<string, unknown>>(method, path, body)
  return { status: answer.status, data: answer.body.data, secret: String(answer.body.data?.secret) }
}

describe.each([1440, 390])('a person with a screen of %i px', (width) => {
  let tab: ConsolePage

  beforeAll(async () => {
    tab = await openConsole(browser, world.service.url, { width })
    await tab.signIn(API_KEY)
  })
  beforeEach(async () => {
    await tab.page.keyboard.press('Escape')
    await tab.page.getByRole('switch', { name: 'Allow changes' }).uncheck()
    await tab.go('', 'Overview')
  })
  afterEach(() => expect(tab.problems).toEqual([]))
  afterAll(() => tab?.context.close())

  const dialog = () => tab.page.getByRole('dialog')
  const field = (label: string) => dialog().getByLabel(new RegExp(`^${label}( \\(optional\\))?$`))
  const confirm = (name: string) => dialog().getByRole('button', { name, exact: true }).click()
  const closed = () => expect.poll(() => dialog().count()).toBe(0)

  /** Opens a page and a form of it. Its button is not there while changes are not allowed. */
  async function open(path: string, title: string | RegExp, button: string): Promise<void> {
    await tab.go(path, title)
    expect(await tab.page.getByRole('button', { name: button, exact: true }).count()).toBe(0)
    await tab.allowChanges()
    await tab.page.getByRole('button', { name: button, exact: true }).first().click()
    await dialog().waitFor()
  }

  test('gives an API key other rights, and what has no field stays', async () => {
    const id = `desk-${width}`
    const rules = {
      receivers: [RECEIVER],
      selectors: ['0xa9059cbb'],
      require_approval: { expires_after_seconds: 90 },
    }
    await api('POST', '/api-keys', {
      id,
      name: 'Desk',
      scopes: ['relayers:read', 'sign'],
      relayers: ['main'],
      rules,
    })
    await open(`api-keys/${id}`, 'Desk', 'Edit')
    await field('Name').fill(`Front desk ${width}`)
    await dialog().getByRole('checkbox', { name: 'sign:' }).uncheck()
    await dialog().getByRole('checkbox', { name: 'transactions:read' }).check()
    await field('Relayers').fill('')
    await field('Sending is allowed').selectOption('some')
    await field('From').fill('08:00')
    await field('Until').fill('18:30')
    await field('Monday').check()
    await tab.screenshot('30-edit-api-key')
    await confirm('Save')
    await closed()
    await tab.page.getByRole('heading', { level: 1, name: `Front desk ${width}` }).waitFor()
    await sees(tab.page, /08:00 to 18:30 UTC, monday/)
    expect((await api('GET', `/api-keys/${id}`)).data).toMatchObject({
      scopes: ['relayers:read', 'transactions:read'],
      rules: {
        ...rules,
        receivers: [RECEIVER.toLowerCase()],
        hours: { from: '08:00', to: '18:30', days: ['monday'] },
      },
    })
    expect((await api('GET', `/api-keys/${id}`)).data).not.toHaveProperty('relayers')
  })

  test('rotates the secret of an API key that leaked, and deletes the key', async () => {
    const id = `leaked-${width}`
    const { secret: old } = await api('POST', '/api-keys', { id, name: 'Leaked', scopes: ['relayers:read'] })
    await open(`api-keys/${id}`, 'Leaked', 'Rotate the secret')
    await field('Keep accepting the current secret').selectOption('0')
    await confirm('Issue a new secret')
    const shown = tab.page.getByRole('dialog', { name: 'New secret for API key Leaked' })
    const secret = await shown.locator('code').innerText()
    await shown.getByRole('button', { name: 'Close' }).click()
    await closed()
    const statusOf = async (key: string) => {
      const headers = { authorization: `Bearer ${key}` }
      return (await world.service.api('GET', '/relayers', undefined, headers)).status
    }
    await expect.poll(() => statusOf(old), { timeout: 5_000 }).toBe(401)
    expect(await statusOf(secret)).toBe(200)
    await tab.page.getByRole('button', { name: 'Delete', exact: true }).click()
    await confirm('Delete the key')
    await tab.page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
    await expect.poll(() => statusOf(secret), { timeout: 5_000 }).toBe(401)
  })

  test('sends the events of a notification elsewhere, rotates its signing key, and deletes it', async () => {
    const id = `moved-${width}`
    await api('POST', '/notifications', { id, type: 'webhook', url: 'https://hooks.example.com/old' })
    await open(`notifications/${id}`, /moved/, 'Edit')
    await field('URL').fill('https://other.example.com/hook')
    await confirm('Save')
    await closed()
    await sees(tab.page, /https:\/\/other\.example\.com/)
    await tab.page.getByRole('button', { name: 'Set a signing key' }).click()
    await dialog().getByRole('button', { name: 'Generate a signing key' }).click()
    await confirm('Sign with the key')
    await closed()
    await sees(tab.page, /Signing key\s+yes/)
    await tab.page.getByRole('button', { name: 'Rotate the signing key' }).click()
    await field('Signing key').fill('short')
    await confirm('Sign with the new key')
    await expect.poll(() => dialog().locator('[aria-invalid="true"]').count()).toBe(1)
    await dialog().getByRole('button', { name: 'Generate a signing key' }).click()
    await confirm('Sign with the new key')
    await closed()
    await tab.page.getByRole('button', { name: 'Delete', exact: true }).click()
    await confirm('Delete the notification')
    await tab.page.getByRole('heading', { level: 1, name: 'Notifications' }).waitFor()
    expect((await api('GET', `/notifications/${id}`)).status).toBe(404)
  })

  test('changes the policies of a relayer, lets another one fill it, and sees why a rule is refused', async () => {
    const id = `refunds-${width}`
    await api('POST', '/signers', { id, type: 'plain', config: { key: `${width}`.padStart(64, '8') } })
    const record = { id, name: 'Refunds', network: 'anvil', network_type: 'evm', signer_id: id }
    await api('POST', '/relayers', { ...record, policies: { min_balance: '5', eip1559_pricing: true } })
    await open(`relayers/${id}`, 'Refunds', 'Edit')
    await field('Minimum balance, in ETH').fill('0.25')
    await field('Topped up by relayer').fill('main')
    await field('Top up below, in ETH').fill('0.5')
    await field('Top up to, in ETH').fill('2')
    await field('Daily maximum, in ETH').fill('10')
    await field('Allowed receivers').fill(RECEIVER.replace('3C44', '3c44'))
    await confirm('Save')
    await expect.poll(() => dialog().locator('.hint.bad').innerText()).toContain('EIP-55')
    await field('Allowed receivers').fill('')
    await tab.screenshot('31-edit-relayer')
    await confirm('Save')
    await closed()
    await sees(tab.page, /Minimum balance\s+0\.25 ETH/)
    await sees(tab.page, /from main: to 2 ETH when it is below 0\.5 ETH/)
    const { data } = await api('GET', `/relayers/${id}`)
    expect(data).toMatchObject({
      policies: { min_balance: 250_000_000_000_000_000n, eip1559_pricing: true, top_up: { from: 'main' } },
    })
  })

  test('gives a new relayer several accounts, and lets one leave', async () => {
    const [first, second] = [`pool-a-${width}`, `pool-b-${width}`]
    for (const [digit, signer] of [first, second].entries())
      await api('POST', '/signers', {
        id: signer,
        type: 'plain',
        config: { key: `${width}`.padStart(64, `${digit + 4}`) },
      })
    await open('', 'Overview', 'New relayer')
    await field('Name').fill(`Pool ${width}`)
    await field('ID').fill(`pool-${width}`)
    await field('Network').selectOption('evm:anvil')
    await field('Signer').selectOption(first)
    await field('Accounts').fill(`${first}\n${second} many`)
    await confirm('Create the relayer')
    await expect.poll(() => dialog().locator('.hint.bad').innerText()).toContain('a number of accounts')
    await field('Accounts').fill(`${first}\n${second}`)
    await confirm('Create the relayer')
    await tab.page.getByRole('heading', { level: 1, name: `Pool ${width}` }).waitFor()
    const accounts = tab.page.getByRole('table', { name: 'Accounts' }).locator('tbody tr')
    await expect.poll(() => accounts.count()).toBe(2)
    await tab.page.getByRole('button', { name: 'Edit', exact: true }).click()
    expect(await field('Accounts').inputValue()).toBe(`${first}\n${second}`)
    await field('Accounts').fill(first)
    await confirm('Save')
    await closed()
    // It has sent nothing that could be taken back, so it leaves immediately.
    await expect.poll(() => accounts.count()).toBe(1)
    const { data } = await api('GET', `/relayers/pool-${width}`)
    expect(data.accounts).toMatchObject([{ signer_id: first }])
  })

  test('gives a new relayer on Stellar channel accounts, pauses it, and deletes it', async () => {
    const id = `anchor-${width}`
    await api('POST', '/signers', { id, type: 'plain', config: { key: `${width}`.padStart(64, '7') } })
    await open('', 'Overview', 'New relayer')
    await field('Name').fill(`Anchor ${width}`)
    await field('ID').fill(id)
    await field('Network').selectOption('stellar:standalone')
    await field('Signer').selectOption(id)
    await field('Channel accounts').fill('2')
    await field('Custom RPC URLs').fill(`${world.ledger.url} 50`)
    await confirm('Create the relayer')
    await tab.page.getByRole('heading', { level: 1, name: `Anchor ${width}` }).waitFor()
    const { data } = await api('GET', `/relayers/${id}`)
    expect(data.channels).toHaveLength(2)
    await sees(tab.page, /Channel accounts\s+2/)
    expect(data.custom_rpc_urls).toMatchObject([{ weight: 50 }])
    await tab.page.getByRole('button', { name: 'Pause', exact: true }).click()
    await confirm('Pause')
    await tab.page.getByRole('button', { name: 'Resume', exact: true }).waitFor()
    await tab.page.getByRole('button', { name: 'Delete', exact: true }).click()
    await confirm('Delete the relayer')
    await tab.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    expect((await api('GET', `/relayers/${id}`)).status).toBe(404)
    await tab.go('signers', 'Signers')
    const row = tab.page.getByRole('row').filter({ hasText: id })
    await row.getByRole('button', { name: 'Delete' }).click()
    await confirm('Delete the signer')
    await closed()
    await expect.poll(() => row.count()).toBe(0)
  })

  test('gives a signer of Google Cloud the key file of a service account', async () => {
    const id = `google-${width}`
    await open('signers', 'Signers', 'New signer')
    await field('Key type').selectOption('google_cloud_kms')
    await field('ID').fill(id)
    await field('Key ring').fill('payments')
    await field('Key').fill('main')
    const upload = (text: string) =>
      field('Key file of a service account').setInputFiles({
        name: 'account.json',
        mimeType: 'application/json',
        buffer: Buffer.from(text),
      })
    await upload('no JSON')
    await confirm('Create the signer')
    await expect.poll(() => dialog().locator('.hint.bad').innerText()).toBe('The file is not valid JSON.')
    await upload(JSON.stringify({ type: 'service_account', project_id: 'payments', private_key_id: 'a' }))
    await confirm('Create the signer')
    await expect.poll(() => dialog().locator('.hint.bad').innerText()).toContain('is required')
    expect(await dialog().innerText()).not.toContain('private_key_id')
  })

  test('replaces the amount of a payment on Solana in a form', async () => {
    const data = Buffer.alloc(12)
    data.writeUInt32LE(2)
    data.writeBigUInt64LE(5_000_000n, 4)
    const account = (pubkey: string, is_signer: boolean) => ({ pubkey, is_signer, is_writable: true })
    const { data: sent } = await api('POST', '/relayers/solana/transactions', {
      instructions: [
        {
          program_id: '11111111111111111111111111111111',
          accounts: [account(SOLANA_SENDER, true), account(SOLANA_RECEIVER, false)],
          data: data.toString('base64'),
        },
      ],
      valid_from: new Date(Date.now() + 86_400_000).toISOString(),
    })
    await open(`transactions/solana/${sent.id}`, /^Transaction/, 'Replace')
    expect(await field('To').inputValue()).toBe(SOLANA_RECEIVER)
    expect(await field('Amount, in SOL').inputValue()).toBe('0.005')
    await field('To').fill('nobody')
    await confirm('Preview')
    await expect.poll(() => dialog().locator('.hint.bad').count()).toBe(1)
    await field('To').fill(SOLANA_RECEIVER)
    await field('Amount, in SOL').fill('1.000000001')
    await confirm('Preview')
    await expect.poll(() => dialog().innerText()).toContain('would be accepted')
    await tab.screenshot('32-replace-solana')
    await confirm('Replace it')
    await closed()
    await sees(tab.page, '1.000000001 SOL')
  })
})
