package gssapi

import "context"

// keytabSource logs in with a keytab. It is read at each login, for keys are changed now and then.
type keytabSource struct {
	path string
	who  principal
	kdcs *kdcs
}

func (s *keytabSource) owner() string { return s.who.String() }

func (s *keytabSource) realm() string { return s.who.realm }

func (s *keytabSource) refresh(context.Context) (changed bool, err error) { return false, nil }

func (s *keytabSource) find(principal) *credential { return nil }

func (s *keytabSource) login(ctx context.Context) (*credential, error) {
	var read *keys
	err := patiently(ctx, func() (err error) {
		if read, err = readKeys(s.path); err == nil && len(read.of(s.who)) == 0 {
			err = failure(ErrNoCredentials, "keytab %s has no key of %s", s.path, s.who)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.kdcs.login(ctx, s.who, read)
}
