import { useEffect, useState } from 'preact/hooks'
import { SignInPage } from './pages/sign-in-page.tsx'
import { forgetSecret, readKeptSecret } from './session/kept-secret.ts'
import { readProvider, resumeSession, type Session, signIn } from './session/session.ts'
import { Workspace } from './workspace.tsx'

const PROVIDER = readProvider()

/** The console: the sign-in, and everything else behind it. */
export function App() {
  const [session, setSession] = useState<Session>()
  const [isResuming, setResuming] = useState(readKeptSecret() !== undefined || PROVIDER !== undefined)
  const [error, setError] = useState<unknown>()
  const begin = async (secret: string) => setSession(await signIn(secret))
  useEffect(() => {
    resume(begin, setSession)
      .catch(setError)
      .finally(() => setResuming(false))
  }, [])
  const signOut = () => {
    forgetSecret()
    setError(undefined)
    // A person whose sign-out does not arrive has to know.
    session?.end().catch(setError)
    setSession(undefined)
  }
  if (isResuming) return <p class="muted loading">Signing in …</p>
  if (session === undefined) return <SignInPage signIn={begin} provider={PROVIDER} failure={error} />
  return <Workspace session={session} signOut={signOut} />
}

/** Continues with the key that this tab keeps, or else with the session of the browser. */
async function resume(
  begin: (secret: string) => Promise<void>,
  setSession: (session: Session | undefined) => void,
): Promise<void> {
  const secret = readKeptSecret()
  // A key that is not accepted any more is asked for again, like the first time.
  if (secret !== undefined) return begin(secret).catch(forgetSecret)
  if (PROVIDER !== undefined) setSession(await resumeSession(() => setSession(undefined)))
}
