import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Announcement } from '../../../src/notifications/receivers/announcement.ts'
import {
  createMailer,
  type MailSettings,
  mailOf,
  recipientsOf,
} from '../../../src/notifications/receivers/mail.ts'
import { createSecret } from '../../../src/security/secrets.ts'
import { startSmtpReceiver } from '../../support/smtp-receiver.ts'

const PASSWORD = 'a-password-of-smtp'

const ANNOUNCEMENT: Announcement = {
  key: 'alert-5c1f',
  state: 'firing',
  severity: 'warning',
  title: 'Balance low: relayer main on evm:anvil',
  text: 'Relayer main can spend 0.5 ETH.',
  since: new Date('2026-11-20T10:00:00.000Z'),
  at: new Date('2026-11-20T10:00:00.000Z'),
  facts: { alert: 'balance_low', relayer_id: 'main' },
  link: 'https://relayer.example/console#/relayers/main',
}

function certificate(): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'smtp-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      key,
      '-out',
      cert,
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
    ].concat(['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']),
    { stdio: 'ignore' },
  )
  const files = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  rmSync(folder, { recursive: true })
  return files
}

const settingsOf = (port: number, rest: Partial<MailSettings> = {}): MailSettings => ({
  host: '127.0.0.1',
  port,
  tls: 'starttls',
  from: 'relayer@example.com',
  recipientDomains: ['example.com'],
  ...rest,
})

const TO = ['ops@example.com', 'on-call@example.com']
const mail = (announcement = ANNOUNCEMENT) => mailOf(announcement, TO, 'relayer@example.com')

describe('a mail server', () => {
  test('with STARTTLS and a login gets the mail, encrypted', async () => {
    const tls = certificate()
    const server = await startSmtpReceiver({
      ...tls,
      onAuth: ({ username, password }, _session, done) =>
        done(password === PASSWORD ? null : new Error('no'), { user: username }),
    })
    onTestFinished(server.stop)
    const login = { user: 'relayer', password: createSecret(PASSWORD) }
    const mailer = createMailer(settingsOf(server.port, { login }), tls.cert)
    expect(await mailer.send(mail(), 5_000)).toMatchObject({ code: 250 })
    expect(server.mails[0]).toMatchObject({ from: 'relayer@example.com', to: TO, isEncrypted: true })
    expect(server.mails[0]?.text).toContain('0.5 ETH')
  })

  test('whose certificate no one knows gets nothing', async () => {
    const server = await startSmtpReceiver({ ...certificate(), authOptional: true })
    onTestFinished(server.stop)
    const mailer = createMailer(settingsOf(server.port))
    await expect(mailer.send(mail(), 5_000)).rejects.toThrow(/self-signed certificate/)
    expect(server.mails).toEqual([])
  })

  test('without STARTTLS gets neither login nor mail', async () => {
    const seen: string[] = []
    const server = await startSmtpReceiver({
      hideSTARTTLS: true,
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ password }, _session, done) => {
        seen.push(password ?? '')
        done(null, { user: 'x' })
      },
    })
    onTestFinished(server.stop)
    const login = { user: 'relayer', password: createSecret(PASSWORD) }
    const mailer = createMailer(settingsOf(server.port, { login }))
    await expect(mailer.send(mail(), 5_000)).rejects.toThrow(/STARTTLS|TLS/)
    expect([seen, server.mails]).toEqual([[], []])
  })

  test('that refuses the login is told without what it says', async () => {
    const tls = certificate()
    const server = await startSmtpReceiver({
      ...tls,
      onAuth: ({ password }, _session, done) => done(new Error(`wrong password ${password}`)),
    })
    onTestFinished(server.stop)
    const login = { user: 'relayer', password: createSecret(PASSWORD) }
    const error = await createMailer(settingsOf(server.port, { login }), tls.cert)
      .send(mail(), 5_000)
      .catch((reason: Error) => reason)
    expect(error).toMatchObject({ message: 'the SMTP server refused the login (535)' })
    expect(JSON.stringify(error) + String(error)).not.toContain(PASSWORD)
  })

  test('that never answers ends in time', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => new Promise<void>((resolve) => silent.close(() => resolve())))
    const mailer = createMailer(settingsOf((silent.address() as AddressInfo).port))
    await expect(mailer.send(mail(), 300)).rejects.toThrow()
  })

  test('that refuses one recipient has sent the mail, once', async () => {
    const server = await startSmtpReceiver({
      authOptional: true,
      onRcptTo: ({ address }, _session, done) => done(address === TO[1] ? new Error('unknown') : null),
    })
    onTestFinished(server.stop)
    const answer = await createMailer(settingsOf(server.port, { tls: 'none' })).send(mail(), 5_000)
    expect(answer.text).toContain(`not for ${TO[1]}`)
    expect(server.mails.map(({ to }) => to)).toEqual([[TO[0]]])
  })
})

test('the end answers the beginning, under the same subject', async () => {
  const server = await startSmtpReceiver({ authOptional: true })
  onTestFinished(server.stop)
  const mailer = createMailer(settingsOf(server.port, { tls: 'none' }))
  const at = new Date('2026-11-20T10:10:00.000Z')
  await mailer.send(mail(), 5_000)
  await mailer.send(mail({ ...ANNOUNCEMENT, state: 'resolved', at }), 5_000)
  const [begun, ended] = server.mails.map(({ headers }) => headers)
  expect(ended?.get('references')).toBe(begun?.get('message-id'))
  expect(ended?.get('in-reply-to')).toBe(begun?.get('message-id'))
  expect(ended?.get('message-id')).not.toBe(begun?.get('message-id'))
  expect(ended?.get('subject')).toBe(`Re: ${begun?.get('subject')}`)
  expect(begun?.get('auto-submitted')).toBe('auto-generated')
})

test('a name cannot add a header, a recipient, a part or a file', async () => {
  const server = await startSmtpReceiver({ authOptional: true })
  onTestFinished(server.stop)
  const title = 'Balance low\r\nBcc: victim@evil.example\r\n\r\nbody'
  const text = '\r\n.\r\nMAIL FROM:<evil@evil.example>\r\n'
  await createMailer(settingsOf(server.port, { tls: 'none' })).send(
    mail({ ...ANNOUNCEMENT, title, text }),
    5_000,
  )
  expect(server.mails).toHaveLength(1)
  expect(server.mails[0]?.to).toEqual(TO)
  expect(server.mails[0]?.headers.has('bcc')).toBe(false)
})

test.each([
  ['mailto:ops@example.com', ['ops@example.com']],
  ['mailto:a+b@x.example,c@y.example', ['a+b@x.example', 'c@y.example']],
  ['mailto:ops@example.com?bcc=x@evil.example', undefined],
  ['mailto:ops@example.com%0d%0aBcc:x@evil.example', undefined],
  ['mailto:"ops"@example.com', undefined],
  ['mailto:ops@example.com\r\nBcc: x@evil.example', undefined],
  ['mailto:', undefined],
  ['mailto:ops@localhost', undefined],
  [`mailto:${Array.from({ length: 21 }, (_, index) => `a${index}@example.com`).join(',')}`, undefined],
])('the recipients of %j are %j', (url, recipients) => {
  expect(recipientsOf(url)).toEqual(recipients)
})
