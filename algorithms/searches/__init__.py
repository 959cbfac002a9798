"""The searches: statistic-first search, SearchCom, PTarget in three versions, and baselines."""
