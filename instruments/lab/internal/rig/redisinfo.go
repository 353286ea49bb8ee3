package rig

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/dewpond/dewpond/examples/matchmaker/region"
)

// A redisNode is a Redis that is asked how it is, on a connection of its own.
type redisNode struct{ client *redis.Client }

// askRedis connects to a Redis, which must answer.
func askRedis(ctx context.Context, address, secret string) (*redisNode, error) {
	s := &redisNode{redis.NewClient(&redis.Options{
		Addr: address, Password: secret, PoolSize: 1, MaxRetries: -1, DialerRetries: 1, DialTimeout: connectWithin, ReadTimeout: connectWithin, DisableIdentity: true,
	})}
	within, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	if err := s.client.Ping(within).Err(); err != nil {
		return nil, fmt.Errorf("the Redis at %s does not answer: %w; start it, or give the address of one that does", address, err)
	}
	return s, nil
}

func (s *redisNode) close() error { return s.client.Close() }

// redisNodes are all nodes of some regions.
type redisNodes []*redisNode

// redisNodes connects to all of the targets'.
func (t targets) redisNodes(ctx context.Context) (all redisNodes, err error) {
	regions, err := region.Parse(t.redis)
	if err != nil {
		return nil, err
	}
	for _, r := range regions {
		for _, address := range append([]string{r.Primary}, r.Replicas...) {
			s, err := askRedis(ctx, address, t.redisSecret)
			if err != nil {
				return nil, errors.Join(err, all.close())
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// taken is how many connections they have taken so far; -1 where one does not say.
func (all redisNodes) taken(ctx context.Context) (n int64) {
	for _, s := range all {
		c, err := s.counts(ctx)
		if err != nil { // a stand-in knows no sections
			return -1
		}
		n += c.connections
	}
	return n
}

func (all redisNodes) close() (err error) {
	for _, s := range all {
		err = errors.Join(err, s.close())
	}
	return err
}

// redisCounts are what a Redis has done since it was started.
type redisCounts struct {
	at          time.Time
	reads       int64         // GETs
	connections int64         // that it took
	main        time.Duration // processor time of its main thread, which serves every command; -1 where it does not say
}

// counts asks for them.
func (s *redisNode) counts(ctx context.Context) (redisCounts, error) {
	text, err := s.client.InfoMap(ctx, "cpu", "stats", "commandstats").Result()
	if err != nil {
		return redisCounts{}, err
	}
	c := redisCounts{at: time.Now(), main: -1}
	for _, section := range text {
		if err := c.read(section); err != nil {
			return c, err
		}
	}
	return c, nil
}

// read reads a section of INFO.
func (c *redisCounts) read(section map[string]string) error {
	number := func(name string) (float64, bool, error) {
		text, ok := section[name]
		if !ok {
			return 0, false, nil
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			err = fmt.Errorf("what Redis says of %s, %.40q, is no number", name, text)
		}
		return n, true, err
	}
	user, hasUser, err := number("used_cpu_user_main_thread")
	if err != nil {
		return err
	}
	system, hasSystem, err := number("used_cpu_sys_main_thread")
	if err != nil {
		return err
	}
	if hasUser && hasSystem {
		c.main = seconds(user + system)
	}
	taken, ok, err := number("total_connections_received")
	if err != nil {
		return err
	}
	if ok {
		c.connections = int64(taken)
	}
	if text, ok := section["cmdstat_get"]; ok {
		calls, _, _ := strings.Cut(strings.TrimPrefix(text, "calls="), ",")
		if c.reads, err = strconv.ParseInt(calls, 10, 64); err != nil {
			return fmt.Errorf("what Redis says of cmdstat_get, %.40q, has no calls", text)
		}
	}
	return nil
}

// A redisWindow is what a Redis did between two counts.
type redisWindow struct {
	reads float64 // a second
	share float64 // of one processor, in the main thread; -1 where it does not say
}

func (c redisCounts) until(later redisCounts) redisWindow {
	elapsed := later.at.Sub(c.at).Seconds()
	w := redisWindow{reads: float64(later.reads-c.reads) / elapsed, share: -1}
	if c.main >= 0 && later.main >= 0 {
		w.share = (later.main - c.main).Seconds() / elapsed
	}
	return w
}
