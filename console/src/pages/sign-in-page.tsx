import { useState } from 'preact/hooks'
import { Failure } from '../parts/notice.tsx'
import { ThemeSwitch } from '../parts/theme-switch.tsx'
import { keepSecret } from '../session/kept-secret.ts'
import type { Provider } from '../session/session.ts'

interface SignInPageProps {
  readonly signIn: (secret: string) => Promise<void>
  /** Absent if people sign in with API keys only. */
  readonly provider: Provider | undefined
  /** Why the last session ended, or did not. */
  readonly failure: unknown
}

/**
 * Leads to the provider, or asks for an API key. The form never leaves the page, so the key cannot get into
 * an address.
 */
export function SignInPage({ signIn, provider, failure }: SignInPageProps) {
  const [keyError, setError] = useState<unknown>()
  const error = keyError ?? failure
  const [isBusy, setBusy] = useState(false)
  const submit = async (form: HTMLFormElement) => {
    const fields = new FormData(form)
    const secret = String(fields.get('secret') ?? '').trim()
    setBusy(true)
    setError(undefined)
    try {
      await signIn(secret)
      if (fields.get('keep') !== null) keepSecret(secret)
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  return (
    <main class="sign-in">
      <form
        class="panel"
        onSubmit={(event) => {
          event.preventDefault()
          void submit(event.currentTarget)
        }}
      >
        <h1>Relayer console</h1>
        {provider && (
          <a class="button primary" href={provider.url}>
            Sign in with {provider.name}
          </a>
        )}
        <p class="muted">
          {provider ? 'Or sign' : 'Sign'} in with an API key of this service. The console can do what the key
          can do, and changes nothing until you allow it.
        </p>
        <label>
          API key
          <input type="password" name="secret" required autocomplete="off" spellcheck={false} />
        </label>
        <label class="check">
          <input type="checkbox" name="keep" /> Keep me signed in on this tab
        </label>
        <p class="hint">Otherwise, reloading the page signs you out.</p>
        {error !== undefined && <Failure error={error} />}
        <button type="submit" class={provider ? '' : 'primary'} disabled={isBusy}>
          Sign in
        </button>
      </form>
      <p class="muted">
        <a href="/docs">API reference</a> · <ThemeSwitch />
      </p>
    </main>
  )
}
